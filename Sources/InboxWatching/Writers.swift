import DaemonRuntime
import Dispatch
import SystemCalls

/// Files that somebody was seen writing to, who has not closed them since. Of a file of one's own a lease tells that better; of another
/// user's the kernel gives none, and what it tells of changes has to do.
struct Writers {
    /// Who has closed it may have gone unseen: nobody is waited for longer than that after the last change.
    private let patience: Duration
    /// When the last change was heard of.
    private var seen: [FileSystem.Key: DispatchTime] = [:]

    init(patience: Duration) { self.patience = patience }

    func contains(_ path: String, at now: DispatchTime = .now()) -> Bool {
        seen[FileSystem.Key(path)].map { now < $0 + patience.dispatch } ?? false
    }

    mutating func heard(_ event: Inotify.Event, at now: DispatchTime = .now()) {
        switch event {
        case .written(let path): seen[FileSystem.Key(path)] = now
        // Empty, it was opened to be written to; otherwise it came by a link.
        case .made(let path): if (try? FileSystem.status(path))?.size == 0 { seen[FileSystem.Key(path)] = now }
        case .closed(let path), .gone(let path), .movedIn(let path): seen[FileSystem.Key(path)] = nil
        case .folderGone(let folder): seen = seen.filter { !FileSystem.lies($0.key.path, within: folder) }
        case .overflow, .topGone: seen = [:]
        case .changed, .folderAppeared, .misnamed: break
        }
    }
}
