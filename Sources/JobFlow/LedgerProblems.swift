package import JobLedger

extension Ledger {
    /// Why no work may begin: the ledger could not record it. Nil if the ledger can be written.
    package nonisolated var unwritableReason: String? { problem.map { "the ledger can't be written: \($0)" } }

    package nonisolated var unreadableReason: String? {
        readProblem.map { "the ledger can't be read: \($0); what needs it is tried again every second" }
    }
}
