import Glibc
public import PipelineModel
import SystemCalls

extension FailureClass {
    /// The class of a system call's failure with this error code. If `ofOriginal` is true, the call concerned the
    /// original; otherwise, it concerned the outbox.
    public init(code: Int32, ofOriginal: Bool = false) {
        self =
            switch code {
            case ENOSPC, EDQUOT: .room
            // In the outbox, a retry may help. Another program may have removed the file, or an earlier call may have
            // moved the file although the file server's reply got lost.
            case ENOENT: ofOriginal ? .input : .transient
            // The permissions of an original concern that file alone, and not the configuration.
            case _ where SystemError.isRefusal(code): ofOriginal ? .input : .configuration
            case _ where SystemError.isPassing(code): .transient
            default: .input
            }
    }

    /// Common error codes of all classes except `input`. Callers that have only an error's text compare it with the
    /// texts of these codes.
    public static let distinctive: [Int32] = [
        ENOSPC, EDQUOT, EACCES, EPERM, EROFS, EMFILE, ENFILE, ENOMEM, EIO, ESTALE, ETIMEDOUT,
    ]
}
