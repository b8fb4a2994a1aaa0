package import JobLedger

extension Ledger {
    /// Why nothing may begin: what is not recorded must not be begun.
    package nonisolated var unwritableReason: String? { problem.map { "the ledger can't be written: \($0)" } }

    package nonisolated var unreadableReason: String? {
        readProblem.map { "the ledger can't be read: \($0); what needs it is tried again every second" }
    }
}
