import Foundation
import Glibc

/// Waits for files that are moved into a folder, by inotify.
final class Arrivals {
    private let descriptor: Int32
    private let folder: String

    init(in folder: String) throws {
        self.folder = folder
        descriptor = inotify_init1(O_CLOEXEC)
        guard inotify_add_watch(descriptor, folder, UInt32(IN_MOVED_TO)) >= 0 else {
            throw BenchError("\(folder) can't be watched: \(String(cString: strerror(errno)))")
        }
    }

    deinit { close(descriptor) }

    /// Seconds without an arrival before the wait fails.
    private static let patience = 60.0

    /// Waits for `count` files.
    func wait(for count: Int) throws {
        var arrived = 0
        var last = Clock.now
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while arrived < count {
            var question = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&question, 1, 1000) > 0 else {
                guard Clock.now - last < Self.patience else {
                    throw BenchError("only \(arrived) of \(count) files have come to \(folder)")
                }
                continue
            }
            let length = read(descriptor, &buffer, buffer.count)
            var place = 0
            while place < length {
                let named = buffer.withUnsafeBytes {
                    $0.loadUnaligned(fromByteOffset: place + 12, as: UInt32.self)
                }
                place += 16 + Int(named)
                arrived += 1
            }
            last = Clock.now
        }
    }
}
