/// The kind of a failure, which decides what the daemon does with the job next.
public enum FailureClass: String, Codable, Sendable, CaseIterable {
    /// The picture or its chain is at fault: a retry would fail too.
    case input
    /// The cause may go away on its own: a network or disk error, a shortage of resources, or a worker killed from
    /// outside.
    case transient
    /// The outbox or the spool is full.
    case room
    /// The worker crashed, and no other process killed it.
    case crash
    case timeout
    /// The recipe needs something that is missing or forbidden, such as a filter or an outbox.
    case configuration
    /// Another job, on which this job depends, has failed or was cancelled.
    case dependency

    public enum RetryPolicy: Sendable {
        case none
        /// Retry after a delay, a limited number of times.
        case later
        /// Wait until there is free space. All other work for the same outbox waits too.
        case room
        /// Retry once, immediately, with no other picture rendering at the same time. If the retry fails too, fail the
        /// job.
        case alone
        /// Wait until a user repairs the cause. All other work that needs the same filter or outbox waits too.
        case mended
    }

    public var retryPolicy: RetryPolicy {
        switch self {
        case .input, .timeout, .dependency: .none
        case .transient: .later
        case .room: .room
        case .crash: .alone
        case .configuration: .mended
        }
    }
}
