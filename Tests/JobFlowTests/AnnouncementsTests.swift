import DaemonRuntime
import JobLedger
import JobModel
import OperationGraph
import PipelineModel
import Synchronization
import Testing

@testable import JobFlow

@Suite("Announcements")
struct AnnouncementsTests {
    /// Returns the runner after two jobs of batch 1 have arrived at the batch's barrier. The window stays empty.
    private func arrived(_ fixture: OwnersFixture) -> JobRunner {
        let jobs = (1...2).map { id in
            var job = fixture.job(id, .waiting)
            (job.batch, job.waitReason, job.segment) = (1, .barrier, 1)
            return job
        }
        fixture.ledger.insert(jobs, batches: [BatchRecord(id: 1, isOpen: false)])
        for job in jobs { fixture.ledger.record(job) }
        #expect(fixture.ledger.flush(seconds: 30))
        return Coordination.sync {
            fixture.owners.jobs.suspendFilling()
            fixture.owners.jobs.begin(with: [.waiting: 2])
            return fixture.owners.runner
        }
    }

    @Test("an arrival that is reported twice while the queue is paused is logged once, and releases its jobs once")
    func once() async throws {
        try await OwnersFixture.with { (fixture: OwnersFixture) async throws -> Void in
            let runner = arrived(fixture)
            let queue = Coordination.sync { fixture.owners.queues.announce }
            _ = queue.pause(reason: nil)
            Coordination.sync { for _ in 1...2 { runner.announce(.arrived, of: 1) } }
            let operations = Mutex(0)
            queue.trace { _, _, state in if state == .finished { operations.withLock { $0 += 1 } } }
            #expect(try fixture.texts("batch") == ["arrived"])
            let queued = fixture.owners.jobs
            #expect(Coordination.sync { queued.counts[.waiting] } == 2)
            queue.resume()
            await fixture.until { queued.counts[.queued] == 2 && queued.counts[.waiting] == 0 }
            await fixture.settle()
            #expect(try fixture.texts("batch") == ["arrived"])
            #expect(operations.withLock { $0 } == 1)
            // The ledger itself announces the batch's end.
            let jobs = try fixture.ledger.jobs([1, 2])
            for var job in jobs {
                (job.state, job.finished) = (.done, 2000)
                fixture.ledger.record(job)
            }
            fixture.ledger.recordDisposal(of: jobs.map { ($0.id, $0.source) }) {}
            #expect(fixture.ledger.flush(seconds: 30))
            #expect(try fixture.texts("batch") == ["arrived", "ended"])
        }
    }

    @Test("a latecomer joins its batch without an announcement")
    func joined() async throws {
        try await OwnersFixture.with { (fixture: OwnersFixture) async throws -> Void in
            let runner = arrived(fixture)
            // The queue of announcements is paused, so an announcement would never run.
            _ = Coordination.sync { fixture.owners.queues.announce }.pause(reason: nil)
            Coordination.sync { runner.announce(.joined, of: 1) }
            await fixture.until { fixture.owners.jobs.counts[.queued] == 2 }
        }
    }
}
