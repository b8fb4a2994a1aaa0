import Glibc
import PipelineModel
import SystemCalls
import WorkerProtocol

/// What an error says of the file that a call was about. Any other meaning is spelled out where it is needed.
extension SystemError {
    /// The name is there already.
    var isTaken: Bool { code == EEXIST }
    /// Nothing has this name. No other error means that.
    var isMissing: Bool { code == ENOENT }
    /// The disk or the machine fails for the moment; nothing is wrong with the file.
    var isPassing: Bool { FailureClass(code: code, ofOriginal: true) == .transient }
    /// This process lacks the permission.
    var isRefusal: Bool { FailureClass(code: code) == .configuration }
}
