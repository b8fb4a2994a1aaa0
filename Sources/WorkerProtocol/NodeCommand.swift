/// What a node can be told to do as a whole, by its own clients or by another node.
public enum NodeCommand: Codable, Sendable, Hashable {
    /// Nil: download, render and publish.
    case pause(queue: String?, reason: String?)
    case resume(queue: String?)
    /// Without a limit it shows the queues.
    case concurrency(queue: String?, limit: String?, save: Bool)
    case cancelAll
    /// Finishes what is in work, and begins nothing.
    case drain
    /// Changes nothing; `Obey=no` does not refuse it.
    case ask(NodeQuestion)
}

/// A call of the control socket that one node may make on another.
public struct NodeQuestion: Codable, Sendable, Hashable {
    public enum Call: String, Codable, Sendable, CaseIterable {
        case status = "Status"
        case list = "List"
        case show = "Show"
    }

    public var call: Call
    /// JSON.
    public var parameters: String

    public static let longest = 4096

    public init(_ call: Call, parameters: String) { (self.call, self.parameters) = (call, parameters) }
}

/// A node's report on a command that it was given.
public struct NodeReport: Codable, Sendable, Hashable {
    public struct Queue: Codable, Sendable, Hashable {
        public var name: String
        /// Nil: automatic.
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

    /// Why it was not done; nil when it was.
    public var error: String?
    /// The jobs that `cancelAll` has cancelled.
    public var cancelled: Int?
    /// The queues afterwards.
    public var queues: [Queue]
    /// The JSON of the call's reply, after `ask`.
    public var reply: String?

    /// With every character escaped, it still fits into a message to the supervisor.
    public static let longestReply = 60 << 10

    public init(error: String? = nil, cancelled: Int? = nil, queues: [Queue] = [], reply: String? = nil) {
        (self.error, self.cancelled, self.queues, self.reply) = (error, cancelled, queues, reply)
    }
}
