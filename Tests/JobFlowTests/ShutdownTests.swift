import DaemonRuntime
import JobLedger
import JobModel
import OperationGraph
import PictureFiles
import PipelineModel
import ServiceProgram
import Synchronization
import Testing

@testable import JobFlow

@Suite("The shutdown")
struct ShutdownTests {
    private func stop(_ fixture: OwnersFixture) async {
        await withCheckedContinuation { continuation in
            Coordination.async {
                fixture.owners.shutdown.begin { continuation.resume() }
                // A second call changes nothing, and its completion is not called.
                fixture.owners.shutdown.begin { Issue.record("there was a stop already") }
            }
        }
    }

    @Test("jobs that have not begun become rows again, in their order, and no more are taken")
    func queued() async throws {
        try await OwnersFixture.with { (fixture: OwnersFixture) async throws -> Void in
            #expect(fixture.insert((1...3).map { fixture.job($0) }))
            Coordination.sync {
                fixture.owners.jobs.fill()
                #expect(fixture.owners.jobs.count == 3)
            }
            await stop(fixture)
            #expect(fixture.insert([fixture.job(4)]))
            Coordination.sync {
                #expect(fixture.owners.shutdown.isStopping)
                fixture.owners.jobs.fill()
                #expect(fixture.owners.jobs.isEmpty)
            }
            #expect(try fixture.ledger.queued(limit: 9).map(\.id) == [1, 2, 3, 4])
            await fixture.settle()
        }
    }

    @Test("a job that still runs after DrainTimeout= goes back to the queue")
    func running() async throws {
        let settings = "Render=1\n[Daemon]\nDrainTimeout=0\nCancelGrace=0\n"
        try await OwnersFixture.with(settings) { (fixture: OwnersFixture) async throws -> Void in
            let owners = fixture.owners
            let job = fixture.job(1)
            try fixture.write("picture", to: job.source)
            #expect(fixture.insert([job]))
            Coordination.sync { owners.jobs.fill() }
            // No render worker can start, so the job stays in this state.
            await fixture.until { owners.jobs[1]?.render.state == .executing && owners.jobs.counts[.running] == 1 }
            await stop(fixture)
            let row = try #require(try fixture.ledger.job(1))
            #expect(row.state == .queued && row.started == nil)
            Coordination.sync { #expect(owners.jobs.isEmpty && owners.jobs.counts[.queued] == 1) }
        }
    }

    @Test("the originals of ended jobs are moved before the stop completes")
    func originals() async throws {
        try await OwnersFixture.with { (fixture: OwnersFixture) async throws -> Void in
            let job = try fixture.ended(1, .cancelled, at: "\(fixture.places.spool)/1/1.png")
            #expect(fixture.insert([job]))
            Coordination.sync { fixture.owners.originals.dispose(job) }
            await stop(fixture)
            #expect(fixture.exists("\(fixture.places.cancelled)/r/1.png"))
            #expect(try fixture.ledger.job(1)?.isOver == true)
        }
    }
}
