import Glibc
import Synchronization
import SystemCalls

/// Interposes `renameat2` and `linkat` in this process, to simulate a file system that can neither exchange two files
/// nor rename without replacing.
public enum Renames {
    /// An attempt to rename a file, or to give it a second name.
    public struct Attempt: Sendable {
        public var isLink: Bool
        /// Paths relative to the watched folder.
        public var from: String
        public var to: String
    }

    private struct Watch: Sendable {
        var folder: String
        var note: @Sendable (Attempt) -> Void
    }

    private static let watches = Mutex<[Watch]>([])

    /// Makes each `renameat2` of a file below `folder` fail while `body` runs. Calls `note` before each such failure
    /// and before each link.
    public static func refused<Result>(
        below folder: String, _ note: @escaping @Sendable (Attempt) -> Void, during body: () throws -> Result
    ) rethrows -> Result {
        watches.withLock { $0.append(Watch(folder: folder, note: note)) }
        defer { watches.withLock { $0.removeAll { $0.folder == folder } } }
        return try body()
    }

    /// Passes the attempt to the watch of its folder; returns false if nobody watches that folder.
    fileprivate static func note(
        _ from: UnsafePointer<CChar>, _ to: UnsafePointer<CChar>, isLink: Bool = false
    ) -> Bool {
        let (from, to) = (String(cString: from), String(cString: to))
        guard let watch = watches.withLock({ $0.first { FileSystem.lies(from, within: $0.folder) } }) else {
            return false
        }
        watch.note(
            Attempt(
                isLink: isLink, from: FileSystem.relative(from, to: watch.folder),
                to: FileSystem.relative(to, to: watch.folder)))
        return true
    }

    /// Returns the C library's own function of this name, which this process overrides.
    fileprivate static func original<Function>(_ name: String, as: Function.Type) -> Function {
        // RTLD_NEXT
        unsafeBitCast(dlsym(UnsafeMutableRawPointer(bitPattern: -1), name), to: Function.self)
    }
}

private typealias Rename =
    @convention(c) (Int32, UnsafePointer<CChar>, Int32, UnsafePointer<CChar>, UInt32) -> Int32
private typealias Link = @convention(c) (Int32, UnsafePointer<CChar>, Int32, UnsafePointer<CChar>, Int32) -> Int32

private let rename = Renames.original("renameat2", as: Rename.self)
private let link = Renames.original("linkat", as: Link.self)

@_cdecl("renameat2")
func notedRename(
    _ folder: Int32, _ from: UnsafePointer<CChar>, _ target: Int32, _ to: UnsafePointer<CChar>, _ flags: UInt32
) -> Int32 {
    guard Renames.note(from, to) else { return rename(folder, from, target, to, flags) }
    errno = EINVAL
    return -1
}

@_cdecl("linkat")
func notedLink(
    _ folder: Int32, _ from: UnsafePointer<CChar>, _ target: Int32, _ to: UnsafePointer<CChar>, _ flags: Int32
) -> Int32 {
    _ = Renames.note(from, to, isLink: true)
    return link(folder, from, target, to, flags)
}
