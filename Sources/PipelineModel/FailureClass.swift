/// The kind of a failure, which decides what becomes of the job.
public enum FailureClass: String, Codable, Sendable, CaseIterable {
    /// The picture or its chain is at fault: another try would fail, too.
    case input
    /// The cause may pass: the network, a disk's error, a machine that is short of something, a worker ended from
    /// outside.
    case transient
    /// The outbox or the spool has no space.
    case room
    /// Its worker ended by itself.
    case crash
    case timeout
    /// The recipe needs something that is missing or not permitted: a filter, an outbox.
    case configuration
    /// A job that it depends on has failed, or was cancelled.
    case dependency

    public enum Remedy: Sendable {
        case none
        /// The job is tried again after a while, a few times.
        case later
        /// The job waits for room, with all work for the same outbox.
        case room
        /// The job is tried again at once, with nothing else beside it; then it fails.
        case alone
        /// The job waits until the cause is mended, with all work that needs the same.
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
