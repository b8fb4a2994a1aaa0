package import JobLedger

extension Ledger {
    /// Why the ledger can't record anything, so that no work may begin; nil if it is writable.
    package nonisolated var unwritableReason: String? { problem.map { "the ledger can't be written: \($0)" } }

    package nonisolated var unreadableReason: String? {
        readProblem.map { "the ledger can't be read: \($0); reading is retried every second" }
    }
}
