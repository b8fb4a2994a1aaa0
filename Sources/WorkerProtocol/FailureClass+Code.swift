import Glibc
public import PipelineModel

extension FailureClass {
    /// Of a system call on the outbox, or on the original.
    public init(code: Int32, ofOriginal: Bool = false) {
        self =
            switch code {
            case ENOSPC, EDQUOT: .room
            // The file may have been cleared away, or moved by a call whose answer from the server got lost.
            case ENOENT: ofOriginal ? .input : .transient
            // An original's own mode is a matter of that file alone.
            case EACCES, EPERM, EROFS: ofOriginal ? .input : .configuration
            // The machine is short of something that others give back.
            case EMFILE, ENFILE, ENOMEM, ENOBUFS, EAGAIN, EINTR, EBUSY: .transient
            // Network file systems, and disks on a cable, say these while they are away. A bad sector says EIO as well, and costs a few
            // tries.
            case EIO, ESTALE, ETIMEDOUT, EREMOTEIO, ENXIO, ENODEV, ENOMEDIUM, ENOLCK, ENOLINK, ECOMM: .transient
            case ENOTCONN, ESHUTDOWN, ECONNRESET, ECONNREFUSED, ECONNABORTED, ENETDOWN, ENETUNREACH, ENETRESET,
                EHOSTDOWN, EHOSTUNREACH:
                .transient
            default: .input
            }
    }

    /// The codes that are of no class but `input`, for whoever has only the words that belong to them.
    public static let telling: [Int32] = [
        ENOSPC, EDQUOT, EACCES, EPERM, EROFS, EMFILE, ENFILE, ENOMEM, EIO, ESTALE, ETIMEDOUT,
    ]
}
