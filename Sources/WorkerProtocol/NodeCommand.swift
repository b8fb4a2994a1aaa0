/// A command to a node as a whole, from its own clients or from another node.
public enum NodeCommand: Codable, Sendable, Hashable {
    /// Pauses a queue; without a queue, pauses download, render and publish.
    case pause(queue: String?, reason: String?)
    case resume(queue: String?)
    /// Sets the limit of a queue; without a limit, only reports the queues.
    case concurrency(queue: String?, limit: String?, save: Bool)
    case cancelAll
    /// Finishes the work in flight, and starts no new work.
    case drain
    /// Asks a question, which changes nothing. A node answers questions even with `Obey=no`.
    case ask(NodeQuestion)
}

/// A call of the control socket that a node may also make to another node.
public struct NodeQuestion: Codable, Sendable, Hashable {
    public enum Call: String, Codable, Sendable, CaseIterable {
        case status = "Status"
        case list = "List"
        case show = "Show"
    }

    public var call: Call
    /// The call's parameters, as JSON.
    public var parameters: String

    public static let longest = 4096

    public init(_ call: Call, parameters: String) { (self.call, self.parameters) = (call, parameters) }
}

/// A node's report after it has executed or refused a command.
public struct NodeReport: Codable, Sendable, Hashable {
    public struct Queue: Codable, Sendable, Hashable {
        public var name: String
        /// The limit in the settings; nil if it is automatic.
        public var configured: Int?
        public var effective: Int
        public var running: Int
        public var isPaused: Bool
        public var reason: String?

        public init(
            name: String, configured: Int?, effective: Int, running: Int, isPaused: Bool, reason: String?
        ) {
            (self.name, self.configured, self.effective) = (name, configured, effective)
            (self.running, self.isPaused, self.reason) = (running, isPaused, reason)
        }
    }

    /// Why the command failed; nil if it succeeded.
    public var error: String?
    /// The number of jobs that `cancelAll` has cancelled.
    public var cancelled: Int?
    /// The state of the queues after the command.
    public var queues: [Queue]
    /// The reply to an `ask` command, as JSON.
    public var reply: String?

    /// Maximum length of `reply` in bytes. Even with every character escaped, the reply fits into a message to the
    /// supervisor.
    public static let longestReply = 60 << 10

    public init(error: String? = nil, cancelled: Int? = nil, queues: [Queue] = [], reply: String? = nil) {
        (self.error, self.cancelled, self.queues, self.reply) = (error, cancelled, queues, reply)
    }
}
