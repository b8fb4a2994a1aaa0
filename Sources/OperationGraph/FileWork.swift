package import Dispatch
import Synchronization

/// The path that an operation is accessing, and the time when the access began. If an access takes longer than the hang
/// timeout, the daemon assumes that the file system does not answer.
package final class FileWork: Sendable {
    package struct Touch: Sendable {
        package var path: String
        package var since: DispatchTime
    }

    private let touched = Mutex<Touch?>(nil)

    package var current: Touch? { touched.withLock { $0 } }

    package func begin(_ path: String) { touched.withLock { $0 = Touch(path: path, since: .now()) } }
    package func end() { touched.withLock { $0 = nil } }

    package func during<Result>(_ path: String, _ body: () throws -> Result) rethrows -> Result {
        begin(path)
        defer { end() }
        return try body()
    }
}
