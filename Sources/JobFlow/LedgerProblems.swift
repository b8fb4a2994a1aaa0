package import JobLedger

extension Ledger {
    /// Why no work may begin: work that can't be recorded must not begin.
    package nonisolated var unwritableReason: String? { problem.map { "the ledger can't be written: \($0)" } }

    package nonisolated var unreadableReason: String? {
        readProblem.map { "the ledger can't be read: \($0); what needs it is tried again every second" }
    }
}
