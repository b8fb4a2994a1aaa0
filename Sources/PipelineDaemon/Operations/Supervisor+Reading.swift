import Dispatch
import PipelineControl
import PipelineModel

/// What the ledger could not tell is asked again, and nothing is taken for an answer meanwhile.
extension Supervisor {
    /// What is to be done when the ledger can be read again, beside looking for rows.
    struct Unasked {
        var isScheduled = false
        /// Jobs that have ended, of which those who wait for them have not been told.
        var ended: Set<Int> = []
        /// Originals that are to be moved.
        var backlog = false
    }

    func readLater() {
        guard !unasked.isScheduled else { return }
        unasked.isScheduled = true
        queue.asyncAfter(deadline: .now() + .seconds(1)) { [self] in
            ledger.readAgain {
                let former = unasked
                unasked = Unasked()
                if former.backlog { disposeBacklog() }
                if !former.ended.isEmpty { tellWaiters(of: former.ended) }
                fill()
            }
            tellChange()
        }
    }

    /// What there is to say of it.
    var unreadReason: String? {
        ledger.readProblem.map { "the ledger can't be read: \($0); what needs it is tried again every second" }
    }

    func moveLater() {
        unasked.backlog = true
        readLater()
    }

    /// Those of the jobs that have ended are told to whoever waits for them.
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
    /// What a client asks for.
    func answer<Result>(_ body: (Ledger) throws -> Result) throws(ControlError) -> Result {
        do { return try body(self) } catch { throw .unread(error) }
    }
}

extension ControlError {
    static func unread(_ error: any Error) -> ControlError {
        let why = (error as? LedgerError)?.message ?? "\(error)"
        return .refused("the ledger can't be read: \(why); `pipectl status` shows whether it can be again")
    }
}
