import Glibc
import SystemCalls
import WorkerProtocol

/// What an error says of the file that a call was about. Whoever asks for anything else has to say it in words.
extension SystemError {
    /// The name is there already.
    var isTaken: Bool { code == EEXIST }
    /// Nothing has this name. No other error says so.
    var isMissing: Bool { code == ENOENT }
    /// The disk, or the machine, can't just now; it has nothing against the file.
    var isPassing: Bool { FailureClass(code: code, ofOriginal: true) == .transient }
    /// This process may not.
    var isRefusal: Bool { FailureClass(code: code) == .configuration }
}
