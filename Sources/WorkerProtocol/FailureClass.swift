import Glibc

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

    /// Classifies the error of a system call on the outbox, or on the original.
    public init(code: Int32, ofOriginal: Bool = false) {
        self =
            switch code {
            case ENOSPC, EDQUOT: .room
            // Somebody may have cleared the file away, or a call has moved it whose answer from the server got lost.
            case ENOENT: ofOriginal ? .input : .transient
            // An original's mode concerns that file alone.
            case EACCES, EPERM, EROFS: ofOriginal ? .input : .configuration
            // The machine is short of something that other processes give back.
            case EMFILE, ENFILE, ENOMEM, ENOBUFS, EAGAIN, EINTR, EBUSY: .transient
            // Network file systems, and disks on a cable, answer so while they are away. A bad sector says EIO as well,
            // and costs a few tries.
            case EIO, ESTALE, ETIMEDOUT, EREMOTEIO, ENXIO, ENODEV, ENOMEDIUM, ENOLCK, ENOLINK, ECOMM: .transient
            case ENOTCONN, ESHUTDOWN, ECONNRESET, ECONNREFUSED, ECONNABORTED, ENETDOWN, ENETUNREACH, ENETRESET,
                EHOSTDOWN, EHOSTUNREACH:
                .transient
            default: .input
            }
    }

    /// The codes of all classes but `input`, for a caller that has only the message of an error.
    public static let telling: [Int32] = [
        ENOSPC, EDQUOT, EACCES, EPERM, EROFS, EMFILE, ENFILE, ENOMEM, EIO, ESTALE, ETIMEDOUT,
    ]
}
