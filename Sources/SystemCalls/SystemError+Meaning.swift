import Glibc

/// The meaning of an error for the file of the call. Callers spell out any other meaning.
extension SystemError {
    /// The name exists already.
    public var isTaken: Bool { code == EEXIST }
    /// No file has this name. No other error means that.
    public var isMissing: Bool { code == ENOENT }
    /// The disk or the machine fails for the moment; the file itself is all right.
    public var isPassing: Bool { Self.isPassing(code) }
    /// The disk has no room, or its user's quota is used up.
    public var isFull: Bool { code == ENOSPC || code == EDQUOT }
    /// This process lacks the permission.
    public var isRefusal: Bool { Self.isRefusal(code) }

    public static func isRefusal(_ code: Int32) -> Bool { [EACCES, EPERM, EROFS].contains(code) }

    public static func isPassing(_ code: Int32) -> Bool {
        switch code {
        // The machine is short of something that others will release.
        case EMFILE, ENFILE, ENOMEM, ENOBUFS, EAGAIN, EINTR, EBUSY: true
        // Network file systems and external disks return these while they are away. A bad sector returns EIO as well,
        // and costs a few retries.
        case EIO, ESTALE, ETIMEDOUT, EREMOTEIO, ENXIO, ENODEV, ENOMEDIUM, ENOLCK, ENOLINK, ECOMM: true
        case ENOTCONN, ESHUTDOWN, ECONNRESET, ECONNREFUSED, ECONNABORTED, ENETDOWN, ENETUNREACH, ENETRESET,
            EHOSTDOWN, EHOSTUNREACH:
            true
        default: false
        }
    }
}
