import DaemonInterface
import DaemonRuntime
import JobLedger
import JobModel
import PipelineModel
import Synchronization
import TestTools
import Testing

@testable import JobFlow

@Suite("Waiting for a batch")
struct WaitersTests {
    private final class Told: Sendable {
        let ids = Mutex<[Int]>([])
        let isOver = Mutex(false)

        var waiter: Waiter {
            Waiter(
                each: { [self] over in ids.withLock { $0 += over.map(\.id) } },
                done: { [self] in isOver.withLock { $0 = true } })
        }

        func hears(of count: Int) async { while ids.withLock({ $0.count }) < count { await Look.again() } }
        func end() async { while !isOver.withLock({ $0 }) { await Look.again() } }
    }

    /// Runs `body` with a batch of `count` jobs. All of them except the last are over.
    private func with(
        _ count: Int, _ body: (_ fixture: OwnersFixture, _ last: JobRecord) async throws -> Void
    ) async throws {
        try await OwnersFixture.with { (fixture: OwnersFixture) async throws -> Void in
            let jobs = (1...count).map { id in
                var job = fixture.job(id, id < count ? .cancelled : .queued)
                (job.batch, job.disposed) = (7, id < count)
                return job
            }
            fixture.ledger.insert(jobs, batches: [BatchRecord(id: 7, isOpen: false)])
            #expect(fixture.ledger.flush(seconds: 30))
            try await body(fixture, jobs[count - 1])
        }
    }

    @Test("each client is told of each job once: of ended jobs at once, of the others when they end")
    func once() async throws {
        try await with(12_000) { fixture, last in
            let (first, second) = (Told(), Told())
            let waiters = Coordination.sync { fixture.owners.waiters }
            Coordination.sync { waiters.wait(forBatch: 7, first.waiter) }
            await first.hears(of: 11_999)
            var last = last
            (last.disposed, last.finished) = (true, 2000)
            last.state = .failed
            fixture.ledger.record(last)
            fixture.ledger.recordDisposal(of: [(last.id, last.source)], keeping: [:]) {}
            #expect(fixture.ledger.flush(seconds: 30))
            Coordination.sync { [last] in
                waiters.ended([last])
                waiters.ended([last])
                waiters.wait(forBatch: 7, second.waiter)
            }
            Coordination.sync {
                waiters.changed(batch: 7)
                waiters.changed(batch: 7)
            }
            for told in [first, second] {
                await told.end()
                #expect(told.ids.withLock { $0.sorted() } == Array(1...12_000))
            }
        }
    }

    @Test("waiting for a batch that is gone or has no jobs left ends at once")
    func none() async throws {
        try await OwnersFixture.with { (fixture: OwnersFixture) async throws -> Void in
            let told = Told()
            Coordination.sync { fixture.owners.waiters.wait(forBatch: 7, told.waiter) }
            await told.end()
            #expect(told.ids.withLock { $0 } == [])
        }
    }
}
