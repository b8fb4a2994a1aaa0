package import Dispatch
import Synchronization
package import SystemCalls

/// The `FileLane`s of each mounted disk. A disk that hangs blocks only the threads of its own lanes, however many
/// requests arrive.
///
/// The daemon's work and clients' requests have separate lanes. A client may pass a path that leads to a hanging disk,
/// for example through a symbolic link. The hanging disk then blocks only the lanes of clients' requests.
package enum FileLanes {
    private enum Purpose {
        /// The daemon's own work.
        case work
        /// Short requests of clients.
        case looks
        /// Clients' requests to copy files or walk through folders, which may take long even on a healthy disk.
        case copies
    }

    private struct Key: Hashable {
        var disk: String
        var purpose: Purpose
    }

    private struct State {
        var lanes: [Key: FileLane] = [:]
        /// The folders passed to `know`, each with its resolved path; nil until the folder's disk has answered.
        var folders: [String: String?] = [:]
    }

    /// Maximum number of client requests that wait in a lane. The gallery sends 48 at once.
    private static let room = 64

    private static let state = Mutex(State())
    private static let mounts = MountPoints()

    /// The lane for reads of the ledger, and for long computations, which would delay other work on the caller's queue.
    package static let ledger = FileLane(threads: 4)

    package static func work(on path: String) -> FileLane { lane(path, .work) }
    package static func looks(at path: String) -> FileLane { lane(path, .looks) }
    package static func copies(of path: String) -> FileLane { lane(path, .copies) }

    /// The lane for a file that a client has passed as a descriptor.
    package static func copies(of file: Descriptor) -> FileLane {
        copies(of: (try? FileSystem.target(of: "/proc/self/fd/\(file.number)")) ?? "/")
    }

    /// Resolves symbolic links in the paths of these folders, so that paths below a folder use the lanes of the disk
    /// that really contains the folder. Until that disk has answered, paths below the folder use separate lanes.
    package static func know(_ folders: some Sequence<String>) {
        for folder in folders {
            let isAsked = state.withLock { state in
                let isAsked = state.folders[folder].map { $0 == nil } ?? false
                if state.folders[folder] == nil { state.folders[folder] = .some(nil) }
                return isAsked
            }
            // An earlier lookup still waits for the disk. Another lookup would only block a second thread.
            if isAsked { continue }
            lane(Key(disk: folder, purpose: .work)).async {
                let resolved = FileSystem.resolved(folder)
                state.withLock { $0.folders[folder] = .some(resolved) }
            }
        }
    }

    /// Disks on which a client's short request has been running since before `time`.
    package static func silentDisks(since time: DispatchTime) -> [String] {
        let lanes = state.withLock { $0.lanes }
        return lanes.filter { $0.key.purpose == .looks && ($0.value.oldest.map { $0 < time } ?? false) }
            .map(\.key.disk).sorted()
    }

    private static func lane(_ path: String, _ purpose: Purpose) -> FileLane {
        lane(Key(disk: disk(of: path), purpose: purpose))
    }

    private static func lane(_ key: Key) -> FileLane {
        state.withLock { state in
            if let lane = state.lanes[key] { return lane }
            let lane = key.purpose == .work ? FileLane(threads: 16) : FileLane(threads: 4, room: room)
            state.lanes[key] = lane
            return lane
        }
    }

    /// The mount point of a path. If the path lies in a folder that was passed to `know`, and the folder's disk has not
    /// answered yet, returns that folder instead.
    private static func disk(of path: String) -> String {
        let folders = state.withLock { $0.folders }
        let above = folders.keys.filter { FileSystem.lies(path, within: $0) }
        guard let folder = above.max(by: { $0.utf8.count < $1.utf8.count }) else { return mounts.point(of: path) }
        guard let resolved = folders[folder] ?? nil else { return folder }
        return mounts.point(of: path == folder ? resolved : resolved + path.dropFirst(folder.utf8.count))
    }
}
