package import JobLedger
package import PipelineControl

extension Ledger {
    /// Reads from the ledger for a client's call; a failure becomes an error for the client.
    package nonisolated func answer<Result>(_ body: (Ledger) throws -> Result) throws(ControlError) -> Result {
        do { return try body(self) } catch { throw .unread(error) }
    }
}

extension ControlError {
    static func unread(_ error: any Error) -> ControlError {
        let why = (error as? LedgerError)?.message ?? "\(error)"
        return .refused("the ledger can't be read: \(why); `pipectl status` shows whether it can be again")
    }
}
