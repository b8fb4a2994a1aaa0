import Glibc
import Synchronization

/// The mount points of file systems. Rereads the kernel's mount table only after a change.
public final class MountPoints: Sendable {
    private struct Table {
        var file: Descriptor
        var points: [String]
    }

    private let table = Mutex<Table?>(nil)

    public init() {}

    /// The mount point of the file system that contains a path. Compares only the text of paths, so the call accesses
    /// no disk and follows no link.
    public func point(of path: String) -> String {
        let points = table.withLock { table in
            if table == nil || Self.hasChanged(table?.file) { table = Self.read() }
            return table?.points ?? []
        }
        return points.filter { FileSystem.lies(path, within: $0) }.max { $0.utf8.count < $1.utf8.count } ?? "/"
    }

    /// Whether the mount table has changed. The kernel reports each change only once to each open descriptor.
    private static func hasChanged(_ file: Descriptor?) -> Bool {
        guard let file else { return true }
        var change = pollfd(fd: file.number, events: Int16(POLLPRI), revents: 0)
        return poll(&change, 1, 0) != 0
    }

    private static func read() -> Table? {
        guard let file = try? Descriptor.open(MountTable.path, O_RDONLY), let text = try? MountTable.text(of: file)
        else { return nil }
        return Table(file: file, points: MountTable.points(in: text, word: 4))
    }
}
