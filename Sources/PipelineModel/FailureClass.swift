/// What kind of failure it is. That decides what becomes of the job.
public enum FailureClass: String, Codable, Sendable, CaseIterable {
    /// The picture, or what the chain asks of it: it would fail again.
    case input
    /// What may pass: the network, a disk's error, a machine that is short of something, a worker that was ended from outside.
    case transient
    /// No space in the outbox, or for the download.
    case room
    /// Its worker ended by itself.
    case crash
    /// It took too long.
    case timeout
    /// Something that the recipe needs is not there, or not permitted: a filter, an outbox.
    case configuration
    /// What it comes after has failed, or was cancelled.
    case dependency

    public enum Remedy: Sendable {
        /// The job fails.
        case none
        /// Another try after a while, and not for ever.
        case later
        /// It waits, and all work with the same outbox, until there is room.
        case room
        /// Another try at once, with nothing else beside it; then it fails.
        case alone
        /// It waits, and all work that needs the same, until that is right again.
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
