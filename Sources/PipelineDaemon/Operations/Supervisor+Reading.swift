import DaemonRuntime
import JobLedger
import PipelineControl
import PipelineModel

/// Failed reads of the ledger are repeated, and nothing is taken for an answer meanwhile.
extension Supervisor {
    /// Work to do once the ledger can be read, beside looking for rows.
    struct Unasked {
        var isScheduled = false
        /// Ended jobs that waiters have not been told of.
        var ended: Set<Int> = []
        /// Originals are still to be moved.
        var backlog = false
    }

    func readLater() {
        guard !unasked.isScheduled else { return }
        unasked.isScheduled = true
        Coordination.after(.seconds(1)) { [self] in
            ledger.readAgain {
                let former = unasked
                unasked = Unasked()
                if former.backlog { disposeBacklog() }
                if !former.ended.isEmpty { tellWaiters(of: former.ended) }
                fill()
                checkWaiters()
            }
            tellChange()
        }
    }

    /// The problem as people are told it.
    nonisolated var unreadReason: String? {
        ledger.readProblem.map { "the ledger can't be read: \($0); what needs it is tried again every second" }
    }

    func moveLater() {
        unasked.backlog = true
        readLater()
    }

    /// Tells waiters of those jobs that are over.
    func tellWaiters(of ids: Set<Int>) {
        let rows = ids.filter { window[$0] == nil }
        do {
            ended(try ledger.jobs(rows.sorted()).filter(\.isOver))
        } catch {
            unasked.ended.formUnion(rows)
            readLater()
        }
    }
}

extension Ledger {
    /// Reads the answer to a client's call.
    nonisolated func answer<Result>(_ body: (Ledger) throws -> Result) throws(ControlError) -> Result {
        do { return try body(self) } catch { throw .unread(error) }
    }
}

extension ControlError {
    static func unread(_ error: any Error) -> ControlError {
        let why = (error as? LedgerError)?.message ?? "\(error)"
        return .refused("the ledger can't be read: \(why); `pipectl status` shows whether it can be again")
    }
}
