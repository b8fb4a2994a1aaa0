/// The kind of a failure; it decides what happens to the job next.
public enum FailureClass: String, Codable, Sendable, CaseIterable {
    /// The picture or its chain is at fault: a retry would fail too.
    case input
    /// The cause may pass: the network, a disk error, a machine short of resources, or a worker killed from outside.
    case transient
    /// The outbox or the spool is full.
    case room
    /// The worker crashed by itself.
    case crash
    case timeout
    /// The recipe needs something that is missing or not permitted, such as a filter or an outbox.
    case configuration
    /// A dependency has failed or was cancelled.
    case dependency

    public enum Remedy: Sendable {
        case none
        /// Retry after a delay, a limited number of times.
        case later
        /// Wait for free space, along with all work for the same outbox.
        case room
        /// Retry immediately, once, with nothing else running beside it; then fail.
        case alone
        /// Wait until the cause is repaired, along with all work that needs the same thing.
        case mended
    }

    public var remedy: Remedy {
        switch self {
        case .input, .timeout, .dependency: .none
        case .transient: .later
        case .room: .room
        case .crash: .alone
        case .configuration: .mended
        }
    }
}
