import Dispatch
import Synchronization

/// What an operation asks of a file system at the moment, and since when: one that does not answer is known by that.
final class FileWork: Sendable {
    struct Touch: Sendable {
        var path: String
        var since: DispatchTime
    }

    private let touched = Mutex<Touch?>(nil)

    var current: Touch? { touched.withLock { $0 } }

    func begin(_ path: String) { touched.withLock { $0 = Touch(path: path, since: .now()) } }
    func end() { touched.withLock { $0 = nil } }

    func during<Result>(_ path: String, _ body: () throws -> Result) rethrows -> Result {
        begin(path)
        defer { end() }
        return try body()
    }
}
