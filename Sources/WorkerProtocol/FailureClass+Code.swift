import Glibc
public import PipelineModel
import SystemCalls

extension FailureClass {
    /// The class of a system call's failure with this error code. The call concerned the outbox or, with `ofOriginal`,
    /// the original.
    public init(code: Int32, ofOriginal: Bool = false) {
        self =
            switch code {
            case ENOSPC, EDQUOT: .room
            // In the outbox, a retry may help: somebody may have cleared a file away, or an earlier call has moved the
            // file and the file server's reply got lost.
            case ENOENT: ofOriginal ? .input : .transient
            // The permissions of an original concern that file alone, and not the configuration.
            case _ where SystemError.isRefusal(code): ofOriginal ? .input : .configuration
            case _ where SystemError.isPassing(code): .transient
            default: .input
            }
    }

    /// Common error codes of all classes except `input`, for callers that have only the errors' texts to compare.
    public static let distinctive: [Int32] = [
        ENOSPC, EDQUOT, EACCES, EPERM, EROFS, EMFILE, ENFILE, ENOMEM, EIO, ESTALE, ETIMEDOUT,
    ]
}
