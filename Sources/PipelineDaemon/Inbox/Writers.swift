import Dispatch
import SystemCalls

/// Files that somebody was seen writing to, who has not closed them since. Of a file of one's own a lease tells that better; of another
/// user's the kernel gives none, and what it tells of changes has to do.
struct Writers {
    /// Who has closed it may have gone unseen: nobody is waited for longer than that after the last change.
    private static let patience: UInt64 = 600_000_000_000  // nanoseconds

    private var seen: [FileSystem.Key: UInt64] = [:]

    func contains(_ path: String) -> Bool {
        guard let time = seen[FileSystem.Key(path)] else { return false }
        return DispatchTime.now().uptimeNanoseconds < time + Self.patience
    }

    mutating func heard(_ event: Inotify.Event) {
        switch event {
        case .written(let path): saw(path)
        // Empty, it was opened to be written to; otherwise it came by a link.
        case .made(let path): if (try? FileSystem.status(path))?.size == 0 { saw(path) }
        case .closed(let path), .gone(let path), .movedIn(let path): seen[FileSystem.Key(path)] = nil
        case .folderGone(let folder): seen = seen.filter { !FileSystem.lies($0.key.path, within: folder) }
        case .overflow, .topGone: seen = [:]
        case .changed, .folderAppeared, .misnamed: break
        }
    }

    private mutating func saw(_ path: String) { seen[FileSystem.Key(path)] = DispatchTime.now().uptimeNanoseconds }
}
