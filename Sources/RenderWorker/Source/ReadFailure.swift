import Glibc
import PipelineModel
import Synchronization
import WorkerProtocol

/// The first failed read of a picture. Decoders don't report a failed read. They mistake it for the end of the file,
/// and some continue with the data that they have already read.
struct ReadFailure: Sendable {
    private static let known = Mutex<ReadFailure?>(nil)

    /// The file's name in messages: the picture, or a result that is being checked.
    let file: String
    let code: Int32

    /// Clears the failure before another picture.
    static func forget() { known.withLock { $0 = nil } }

    static func note(_ code: Int32, of file: String) {
        known.withLock { $0 = $0 ?? ReadFailure(file: file, code: code) }
    }

    static var first: ReadFailure? { known.withLock { $0 } }

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
