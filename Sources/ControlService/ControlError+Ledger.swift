import JobModel
import PipelineControl

extension ControlService {
    /// Reads from the ledger for a client's call; a failure becomes an error for the client.
    func answer<Result>(_ body: () throws -> Result) throws(ControlError) -> Result {
        do { return try body() } catch { throw .unread(error) }
    }
}

extension ControlError {
    static func unread(_ error: any Error) -> ControlError {
        let why = (error as? any LedgerFailure)?.message ?? "\(error)"
        return .refused("the ledger can't be read: \(why); `pipectl status` shows whether it can be again")
    }
}
