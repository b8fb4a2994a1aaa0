import DaemonRuntime
import Dispatch
import SystemCalls

/// Files that somebody was seen writing to, and has not closed since. A lease shows that better for a file of the
/// daemon's own user, but the kernel grants none on another user's file.
struct Writers {
    /// The closing may have gone unseen: no writer is waited for longer than that after the last change.
    private let patience: Duration
    /// The time of the last change that was heard of.
    private var seen: [FileSystem.Key: DispatchTime] = [:]

    init(patience: Duration) { self.patience = patience }

    func contains(_ path: String, at now: DispatchTime) -> Bool {
        seen[FileSystem.Key(path)].map { now < $0 + patience.dispatch } ?? false
    }

    /// Somebody writes to a file below this folder.
    func areIn(_ folder: String, at now: DispatchTime) -> Bool {
        seen.contains { now < $0.value + patience.dispatch && FileSystem.lies($0.key.path, within: folder) }
    }

    mutating func heard(_ event: Inotify.Event, at now: DispatchTime, isEmpty: (String) -> Bool) {
        switch event {
        case .written(let path): seen[FileSystem.Key(path)] = now
        // An empty file was opened to be written to; any other came by a link.
        case .made(let path): if isEmpty(path) { seen[FileSystem.Key(path)] = now }
        case .closed(let path), .gone(let path), .movedIn(let path): seen[FileSystem.Key(path)] = nil
        case .folderGone(let folder): seen = seen.filter { !FileSystem.lies($0.key.path, within: folder) }
        case .overflow, .topGone: seen = [:]
        case .changed, .folderAppeared, .misnamed: break
        }
    }
}
