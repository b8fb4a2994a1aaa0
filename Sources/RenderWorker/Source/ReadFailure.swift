import Glibc
import Synchronization
import WorkerProtocol

/// The first call in which the disk refused to give what lies in a file. No decoder tells of it: to them a file that can't be read is one
/// that ends there, and some go on with what they have.
struct ReadFailure: Sendable {
    private static let known = Mutex<ReadFailure?>(nil)

    /// Of the picture, or of a result that is looked at again.
    let file: String
    let code: Int32

    /// Another picture begins.
    static func forget() { known.withLock { $0 = nil } }

    static func note(_ code: Int32, of file: String) {
        known.withLock { $0 = $0 ?? ReadFailure(file: file, code: code) }
    }

    static var first: ReadFailure? { known.withLock { $0 } }

    /// What was read is not all that is there.
    static func check() throws {
        if let first { throw WorkerFailure(reading: first) }
    }
}

extension WorkerFailure {
    init(reading failure: ReadFailure) {
        self.init(
            stage: "open", message: "\(failure.file) can't be read (\(String(cString: strerror(failure.code))))",
            advice: "look at the disk (`dmesg`), or at its network, then pipectl retry",
            class: FailureClass(code: failure.code, ofOriginal: true))
    }
}
