import DaemonRuntime
package import WorkerProtocol

/// Why a command is not executed.
package enum CommandRefusal: Error {
    package typealias Done = @Coordination @Sendable (Result<NodeReport, CommandRefusal>) -> Void

    case noSuchQueue(String, queues: [String])
    case badValue(String)
    case refused(String)

    package var message: String {
        switch self {
        case .noSuchQueue(let name, let queues):
            "there is no queue '\(name)'; the queues are \(queues.joined(separator: ", "))"
        case .badValue(let message), .refused(let message): message
        }
    }
}
