import Glibc

/// The usual meaning of an error code for the accessed file. Callers that interpret a code differently check `code`
/// itself.
extension SystemError {
    /// The name exists already.
    public var isTaken: Bool { code == EEXIST }
    /// No file has this name. Only `ENOENT` has this meaning.
    public var isMissing: Bool { code == ENOENT }
    /// The disk or the machine has failed temporarily; the file itself is not at fault.
    public var isPassing: Bool { Self.isPassing(code) }
    /// The disk has no room, or the user's quota on that disk is used up.
    public var isFull: Bool { code == ENOSPC || code == EDQUOT }
    /// This process lacks the permission.
    public var isRefusal: Bool { Self.isRefusal(code) }

    public static func isRefusal(_ code: Int32) -> Bool { [EACCES, EPERM, EROFS].contains(code) }

    public static func isPassing(_ code: Int32) -> Bool {
        switch code {
        // The machine lacks a resource that other processes will release.
        case EMFILE, ENFILE, ENOMEM, ENOBUFS, EAGAIN, EINTR, EBUSY: true
        // Network file systems and external disks return these codes while they are unreachable. A bad sector returns
        // EIO as well, so it costs a few retries.
        case EIO, ESTALE, ETIMEDOUT, EREMOTEIO, ENXIO, ENODEV, ENOMEDIUM, ENOLCK, ENOLINK, ECOMM: true
        case ENOTCONN, ESHUTDOWN, ECONNRESET, ECONNREFUSED, ECONNABORTED, ENETDOWN, ENETUNREACH, ENETRESET,
            EHOSTDOWN, EHOSTUNREACH:
            true
        default: false
        }
    }
}
