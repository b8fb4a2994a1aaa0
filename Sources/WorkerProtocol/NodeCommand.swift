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

    public init(error: String? = nil, cancelled: Int? = nil, queues: [Queue] = []) {
        (self.error, self.cancelled, self.queues) = (error, cancelled, queues)
    }
}
