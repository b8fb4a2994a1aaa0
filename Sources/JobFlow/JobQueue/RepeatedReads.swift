package import DaemonRuntime
import JobLedger

/// Repeats work that failed because the ledger could not be read.
@Coordination
protocol ReadsDelegate: AnyObject {
    func readAgain(_ missed: RepeatedReads.Missed)
    func statusChanged()
}

/// Retries failed reads of the ledger. Until a read succeeds, the daemon assumes nothing about the rows.
@Coordination
package final class RepeatedReads {
    /// Work to repeat once the ledger can be read, besides filling the window.
    struct Missed {
        /// Jobs that may have ended without a report to the clients that wait for them.
        var ended: Set<Int> = []
        /// Whether the originals that still have to be moved could not be listed.
        var backlog = false
    }

    private let ledger: Ledger
    weak var delegate: (any ReadsDelegate)?
    private var missed = Missed()
    private var isScheduled = false

    init(_ ledger: Ledger) { self.ledger = ledger }

    /// Notes jobs whose rows could not be read. These jobs may be over without a report to the clients that wait for
    /// them.
    func missed(ended ids: some Sequence<Int>) {
        missed.ended.formUnion(ids)
        later()
    }

    func missedBacklog() {
        missed.backlog = true
        later()
    }

    func later() {
        guard !isScheduled else { return }
        isScheduled = true
        Coordination.after(.seconds(1)) { [self] in
            ledger.readAgain {
                let former = missed
                (missed, isScheduled) = (Missed(), false)
                delegate?.readAgain(former)
            }
            delegate?.statusChanged()
        }
    }
}
