extension Ledger {
    /// Why nothing may begin: what is not recorded must not be begun.
    var unwritableReason: String? { problem.map { "the ledger can't be written: \($0)" } }

    var unreadableReason: String? {
        readProblem.map { "the ledger can't be read: \($0); what needs it is tried again every second" }
    }
}
