import Glibc
public import PipelineModel
import SystemCalls

extension FailureClass {
    /// The class of a system call that failed on the outbox, or on the original.
    public init(code: Int32, ofOriginal: Bool = false) {
        self =
            switch code {
            case ENOSPC, EDQUOT: .room
            // The file may have been cleared away, or moved by a call whose answer from the server got lost.
            case ENOENT: ofOriginal ? .input : .transient
            // An original's mode concerns that file alone, not the configuration.
            case _ where SystemError.isRefusal(code): ofOriginal ? .input : .configuration
            case _ where SystemError.isPassing(code): .transient
            default: .input
            }
    }

    /// The usual codes of all classes but `input`, for callers that have only their texts.
    public static let distinctive: [Int32] = [
        ENOSPC, EDQUOT, EACCES, EPERM, EROFS, EMFILE, ENFILE, ENOMEM, EIO, ESTALE, ETIMEDOUT,
    ]
}
