package import DaemonRuntime
import JobLedger
import PipelineModel

/// Repeats work that failed because the ledger could not be read.
@Coordination
protocol ReadsDelegate: AnyObject {
    func readAgain(_ missed: RepeatedReads.Missed)
    func statusChanged()
}

/// Failed reads of the ledger are repeated, and nothing is taken for an answer meanwhile.
@Coordination
package final class RepeatedReads {
    /// Work to do once the ledger can be read, beside looking for rows.
    struct Missed {
        /// Ended jobs that waiters have not been told of.
        var ended: Set<Int> = []
        /// Originals are still to be moved.
        var backlog = false
    }

    private let ledger: Ledger
    weak var delegate: (any ReadsDelegate)?
    private var missed = Missed()
    private var isScheduled = false

    init(_ ledger: Ledger) { self.ledger = ledger }

    /// Nobody could be told that these jobs are over.
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
