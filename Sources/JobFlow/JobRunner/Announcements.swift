import DaemonRuntime
import JobLedger
import OperationGraph
import PipelineModel

/// Announces, once each, that all jobs of a batch have reached a barrier or have ended.
@Coordination
final class Announcements {
    private let ledger: Ledger
    private let queue: GatedQueue
    private let jobs: JobQueue
    private let waiters: Waiters
    /// Batches with an announcement in progress.
    private var announcing: Set<Int> = []

    init(_ ledger: Ledger, on queue: GatedQueue, _ jobs: JobQueue, _ waiters: Waiters) {
        (self.ledger, self.queue, self.jobs, self.waiters) = (ledger, queue, jobs, waiters)
    }

    /// Announces news of a whole batch, and lets its jobs pass the barrier.
    func announce(_ news: BatchNews, of batch: Int) {
        guard announcing.insert(batch).inserted else { return }
        guard news != .joined else { return record(batch) {} }
        queue.add(AnnounceOperation { [self] in record(batch, done: $0) }, of: OperationSubject.batch(batch, news))
    }

    nonisolated private func record(_ batch: Int, done: @escaping @Sendable () -> Void) {
        ledger.announce(batch) { [self] released in
            done()
            Coordination.async { [self] in
                announcing.remove(batch)
                guard released > 0 else { return waiters.changed(batch: batch) }
                jobs.cameBack(released)
            }
        }
    }

    /// Calls `done` when all ends so far are announced.
    func whenAnnounced(_ done: @escaping @Coordination @Sendable () -> Void) {
        // The ledger reports news of a batch after the entry that caused it. So after one more entry, the announcement
        // is in the queue.
        ledger.whenDurable { [queue] in
            Coordination.async {
                let last = AnnounceOperation { over in
                    over()
                    Coordination.async(done)
                }
                queue.add(last)
            }
        }
    }
}
