import DaemonRuntime
import JobLedger
import OperationGraph
import PipelineModel

/// Tells, once each, that all jobs of a batch have arrived at a barrier or have ended.
@Coordination
final class Announcements {
    private let ledger: Ledger
    private let queue: GatedQueue
    private let window: Window
    private let waiters: Waiters
    /// Batches of which something is being announced.
    private var announcing: Set<Int> = []

    init(_ ledger: Ledger, on queue: GatedQueue, _ window: Window, _ waiters: Waiters) {
        (self.ledger, self.queue, self.window, self.waiters) = (ledger, queue, window, waiters)
    }

    /// Something has become of a batch as a whole. Jobs at the barrier go on.
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
                window.cameBack(released)
            }
        }
    }

    /// Calls `done` when everything that has ended by now is announced.
    func whenAnnounced(_ done: @escaping @Coordination @Sendable () -> Void) {
        // A batch is told of behind the entry that has changed it: behind one more, its announcement is in the queue.
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
