import Dispatch
import ServiceProgram
import SystemCalls

/// Tracks files that a process has written to and not closed since, according to inotify. A lease is more reliable, but
/// the kernel grants the daemon no lease on another user's file.
struct Writers {
    /// How long a file counts as being written after its last write event. The time is limited, because the event that
    /// reports the close may be missed.
    private let patience: Duration
    /// Time of the last write event, by path.
    private var seen: [FileSystem.Key: DispatchTime] = [:]

    init(patience: Duration) { self.patience = patience }

    func contains(_ path: String, at now: DispatchTime) -> Bool {
        seen[FileSystem.Key(path)].map { now < $0 + patience.dispatch } ?? false
    }

    /// Whether a process is writing to a file below this folder.
    func areIn(_ folder: String, at now: DispatchTime) -> Bool {
        seen.contains { now < $0.value + patience.dispatch && FileSystem.lies($0.key.path, within: folder) }
    }

    mutating func heard(_ event: Inotify.Event, at now: DispatchTime, isEmpty: (String) -> Bool) {
        switch event {
        case .written(let path): seen[FileSystem.Key(path)] = now
        // A process is probably about to write a new file that is empty. A new file with content arrived as a hard
        // link.
        case .made(let path): if isEmpty(path) { seen[FileSystem.Key(path)] = now }
        case .closed(let path), .gone(let path), .movedIn(let path): seen[FileSystem.Key(path)] = nil
        case .folderGone(let folder): seen = seen.filter { !FileSystem.lies($0.key.path, within: folder) }
        case .overflow, .topGone: seen = [:]
        case .changed, .folderAppeared, .misnamed: break
        }
    }
}
