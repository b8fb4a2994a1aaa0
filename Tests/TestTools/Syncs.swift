import Glibc
import Synchronization
import SystemCalls

/// Records the `fsync` calls of this process, by interposing the function.
public enum Syncs {
    private struct Watch: Sendable {
        var folder: String
        var note: @Sendable (String) -> Void
    }

    private static let watches = Mutex<[Watch]>([])

    /// While `body` runs, calls `note` before each sync of a file or folder below `folder`. `note` gets the path
    /// relative to `folder`, which is "" for `folder` itself.
    public static func watch<Result>(
        _ folder: String, _ note: @escaping @Sendable (String) -> Void, during body: () async throws -> Result
    ) async rethrows -> Result {
        let folder = FileSystem.resolved(folder)
        watches.withLock { $0.append(Watch(folder: folder, note: note)) }
        defer { watches.withLock { $0.removeAll { $0.folder == folder } } }
        return try await body()
    }

    /// Returns the paths below `folder` that are synced while `body` runs, in order.
    public static func below(_ folder: String, during body: () async throws -> Void) async rethrows -> [String] {
        let paths = Paths()
        try await watch(folder) { path in
            paths.all.withLock { $0.append(path) }
        } during: {
            try await body()
        }
        return paths.all.withLock { $0 }
    }

    private final class Paths: Sendable {
        let all = Mutex<[String]>([])
    }

    fileprivate static func note(_ file: Int32) {
        var room = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/fd/\(file)", &room, room.count)
        guard count > 0 else { return }
        let path = String(decoding: room[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        for watch in watches.withLock({ $0 }) where path == watch.folder || path.hasPrefix(watch.folder + "/") {
            watch.note(String(path.dropFirst(watch.folder.count + 1)))
        }
    }
}

@_cdecl("fsync")
func notedSync(_ file: Int32) -> Int32 {
    Syncs.note(file)
    return fdatasync(file)
}
