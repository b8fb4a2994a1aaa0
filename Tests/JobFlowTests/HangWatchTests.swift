import DaemonRuntime
import JobLedger
import JobModel
import OperationGraph
import PictureFiles
import PipelineModel
import Testing

@testable import DaemonConfiguration
@testable import JobFlow

@Suite("The watch for hanging disks")
struct HangWatchTests {
    @Test(
        "a job waits for an outbox or inbox that is silent for HangTimeout=; other jobs that need it are set aside")
    func operations() async throws {
        try await OwnersFixture.with("[Daemon]\nHangTimeout=1\n") { (fixture: OwnersFixture) async throws -> Void in
            let owners = fixture.owners
            #expect(fixture.insert([fixture.job(1), fixture.job(2)]))
            let (outbox, inbox) = (fixture.job(1).order.outbox, fixture.job(1).order.inbox)
            let told = AsyncStream<String>.makeStream()
            let hangs = Coordination.sync {
                HangWatch(owners.configuration, owners.jobs, owners.shortages, owners.originals)
            }
            @Coordination func watch() {
                hangs.watch { job, reason in told.continuation.yield("\(job.record.id): \(reason)") }
            }
            Coordination.sync {
                owners.jobs.fill()
                guard let job = owners.jobs[1] else { return }
                owners.runner.advance(job, .began)
                job.render.fileWork.begin("\(outbox)/.staging/1.png")
                for _ in 1...2 { watch() }
            }
            var next = told.stream.makeAsyncIterator()
            #expect(await next.next() == "1: \(outbox) does not answer")
            await fixture.until { owners.jobs.counts[.waiting] == 1 }
            Coordination.sync {
                #expect(owners.shortages.problems == ["\(outbox) does not answer; its work goes on when it answers"])
                owners.shortages.answered(1)
                owners.jobs[1]?.render.fileWork.begin("\(inbox)/.pipelined/r/0/1.png")
            }
            // The watch continues as long as a job is running.
            #expect(await next.next() == "1: \(inbox) does not answer")
        }
    }

    @Test("a move of an original is watched until the original has arrived, even when no job is running")
    func moves() async throws {
        try await OwnersFixture.with("[Daemon]\nHangTimeout=1\n") { (fixture: OwnersFixture) async throws -> Void in
            let owners = fixture.owners
            let job = try fixture.ended(1, .failed, at: "\(fixture.places.spool)/1/1.png")
            #expect(fixture.insert([job]))
            let moves = Coordination.sync { owners.originals.moves }
            let hangs = Coordination.sync {
                HangWatch(owners.configuration, owners.jobs, owners.shortages, owners.originals)
            }
            Coordination.sync { hangs.watch { _, _ in } }
            try await fixture.whileHanging(moves, job) { () async throws in
                await fixture.until { moves.hangText(among: [1]) != nil }
            }
            #expect(try fixture.texts("job", of: 1).first?.hasSuffix("the disk does not answer") == true)
        }
    }
}
