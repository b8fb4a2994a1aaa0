package import DaemonRuntime
import JobLedger
import PipelineModel

/// Repeats work that failed because the ledger could not be read.
@Coordination
protocol ReadsDelegate: AnyObject {
    func readAgain(_ missed: RepeatedReads.Missed)
    func statusChanged()
}

/// Repeats failed reads of the ledger. Until one succeeds, nothing is assumed about the rows.
@Coordination
package final class RepeatedReads {
    /// Work to repeat once the ledger can be read, besides filling the jobs.
    struct Missed {
        /// Ended jobs that waiters have not been told of.
        var ended: Set<Int> = []
        /// Whether originals still have to be moved.
        var backlog = false
    }

    private let ledger: Ledger
    weak var delegate: (any ReadsDelegate)?
    private var missed = Missed()
    private var isScheduled = false

    init(_ ledger: Ledger) { self.ledger = ledger }

    /// These jobs are over, but waiters could not be told.
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
