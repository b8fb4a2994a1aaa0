import Foundation
import Glibc
import SystemCalls

/// A file that is removed when its last owner is released.
final class TemporaryFile: Sendable {
    let path: String

    init(_ bytes: [UInt8] = []) throws {
        path = NSTemporaryDirectory() + "/render-\(UUID().uuidString)"
        try Data(bytes).write(to: URL(fileURLWithPath: path))
    }

    deinit { unlink(path) }

    /// Opens the file again, because duplicates of a descriptor would share its offset.
    func reopened(_ flags: Int32 = O_RDONLY) throws -> Descriptor { try Descriptor.open(path, flags) }

    var bytes: [UInt8] {
        get throws { [UInt8](try Data(contentsOf: URL(fileURLWithPath: path))) }
    }
}

/// A folder that is removed when its last owner is released.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        path = NSTemporaryDirectory() + "/render-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}
