import DaemonRuntime
import JobLedger
import JobModel
import OperationGraph
import PictureFiles
import PipelineModel
import Testing

@testable import DaemonConfiguration
@testable import JobFlow

@Suite("Disks that hang")
struct HangTests {
    @Test(
        "a job waits for an outbox or inbox that is silent for HangTimeout=; other jobs that need it are set aside")
    func operations() async throws {
        try await OwnersFixture.with("[Daemon]\nHangTimeout=1\n") { (fixture: OwnersFixture) async throws -> Void in
            let owners = fixture.owners
            #expect(fixture.insert([fixture.job(1), fixture.job(2)]))
            let (outbox, inbox) = (fixture.job(1).order.outbox, fixture.job(1).order.inbox)
            Coordination.sync {
                owners.jobs.fill()
                guard let job = owners.jobs[1] else { return }
                owners.runner.rendering(job, .executing)
                job.render.fileWork.begin("\(outbox)/.staging/1.png")
            }
            await fixture.until { owners.jobs[1]?.record.reason == "\(outbox) does not answer" }
            await fixture.until { owners.jobs.counts[.waiting] == 2 }
            Coordination.sync {
                #expect(owners.shortages.problems == ["\(outbox) does not answer; its work goes on when it answers"])
                owners.shortages.answered(1)
                owners.jobs[1]?.render.fileWork.begin("\(inbox)/.pipelined/r/0/1.png")
            }
            // The search for hanging disks continues as long as a job is running.
            await fixture.until { owners.jobs[1]?.record.reason == "\(inbox) does not answer" }
        }
    }

    @Test("a move of an original that hangs is reported after HangTimeout=, even when no job is running")
    func moves() async throws {
        try await OwnersFixture.with("[Daemon]\nHangTimeout=1\n") { (fixture: OwnersFixture) async throws -> Void in
            let job = try fixture.ended(1, .failed, at: "\(fixture.places.spool)/1/1.png")
            #expect(fixture.insert([job]))
            let moves = Coordination.sync { fixture.owners.originals.moves }
            try await fixture.whileHanging(moves, job) { () async throws in
                await fixture.until { moves.hangText(among: [1]) != nil }
            }
            #expect(try fixture.texts("job", of: 1).first?.hasSuffix("the disk does not answer") == true)
        }
    }
}
