import DaemonRuntime
import JobLedger
import OperationGraph
import PipelineModel
import Synchronization
import Testing

@testable import JobFlow
@testable import PipelineDaemon

@Suite("Announcements")
struct AnnouncementsTests {
    /// Inserts two jobs of batch 1 that wait at its barrier. They are not in the window.
    private func arrived(_ fixture: OwnersFixture) -> Announcements {
        let jobs = (1...2).map { id in
            var job = fixture.job(id, .waiting)
            (job.batch, job.waitReason, job.segment) = (1, .barrier, 1)
            return job
        }
        fixture.ledger.insert(jobs, batches: [BatchRecord(id: 1, isOpen: false)])
        for job in jobs { fixture.ledger.record(job) }
        #expect(fixture.ledger.flush(seconds: 30))
        return Coordination.sync {
            fixture.owners.window.hold()
            fixture.owners.counts.begin(with: [.waiting: 2])
            return fixture.owners.announcements
        }
    }

    @Test("an arrival that is reported twice while the queue is paused is announced once; its jobs are queued again")
    func once() async throws {
        try await OwnersFixture.with { (fixture: OwnersFixture) async throws -> Void in
            let announcements = arrived(fixture)
            let queue = Coordination.sync { fixture.owners.queues.announce }
            _ = queue.pause(reason: nil)
            Coordination.sync { for _ in 1...2 { announcements.announce(.arrived, of: 1) } }
            let operations = Mutex(0)
            queue.trace { _, _, state in if state == .finished { operations.withLock { $0 += 1 } } }
            #expect(try fixture.texts("batch") == [])
            queue.resume()
            await fixture.until { fixture.owners.counts[.queued] == 2 && fixture.owners.counts[.waiting] == 0 }
            await withCheckedContinuation { continuation in
                Coordination.async { announcements.whenAnnounced { continuation.resume() } }
            }
            #expect(try fixture.texts("batch") == ["arrived"])
            #expect(operations.withLock { $0 } == 1)
            // Check that the batch's next event is announced as well.
            let jobs = try fixture.ledger.jobs([1, 2])
            for var job in jobs {
                (job.state, job.finished) = (.done, 2000)
                fixture.ledger.record(job)
            }
            fixture.ledger.recordDisposal(of: jobs.map { ($0.id, $0.source) }) {}
            #expect(fixture.ledger.flush(seconds: 30))
            Coordination.sync { announcements.announce(.ended, of: 1) }
            while try fixture.texts("batch") != ["arrived", "ended"] { await fixture.settle() }
        }
    }

    @Test("a latecomer joins its batch without an announcement")
    func joined() async throws {
        try await OwnersFixture.with { (fixture: OwnersFixture) async throws -> Void in
            let announcements = arrived(fixture)
            // The queue for announcements is paused, so the test would hang if the latecomer needed one.
            _ = Coordination.sync { fixture.owners.queues.announce }.pause(reason: nil)
            Coordination.sync { announcements.announce(.joined, of: 1) }
            await fixture.until { fixture.owners.counts[.queued] == 2 }
        }
    }

    @Test("a caller that waits until all is announced is called after the announcement of the batch that just ended")
    func behind() async throws {
        try await OwnersFixture.with { (fixture: OwnersFixture) async throws -> Void in
            let announcements = arrived(fixture)
            fixture.ledger.batchChanged { batch, news in
                Coordination.async { announcements.announce(news, of: batch) }
            }
            for id in 1...2 {
                var job = fixture.job(id, .failed)
                (job.batch, job.finished) = (1, 2000)
                fixture.ledger.record(job)
            }
            let events = await withCheckedContinuation { continuation in
                // The batch's end is announced only after these moves are recorded.
                fixture.ledger.recordDisposal(of: [(1, "/1"), (2, "/2")]) {
                    Coordination.async {
                        announcements.whenAnnounced {
                            continuation.resume(returning: Result { try fixture.ledger.events(after: 0, limit: 100) })
                        }
                    }
                }
            }
            #expect(try events.get().filter { $0.event.kind == "batch" }.map(\.event.text) == ["ended"])
        }
    }
}
