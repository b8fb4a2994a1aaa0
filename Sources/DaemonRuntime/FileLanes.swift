package import Dispatch
import Synchronization
package import SystemCalls

/// The lanes of each mount. A disk that hangs blocks only its own lanes, and takes no more threads, however many
/// requests come.
///
/// The daemon's work and clients' requests have separate lanes: a client may name any path, and a link that it made may
/// lead from a healthy disk to one that hangs.
package enum FileLanes {
    private enum Purpose {
        /// The daemon's own work.
        case work
        /// Short requests of clients.
        case looks
        /// Copies and walks for clients, which may take long on a healthy disk.
        case copies
    }

    private struct Key: Hashable {
        var disk: String
        var purpose: Purpose
    }

    private struct State {
        var lanes: [Key: FileLane] = [:]
        /// Folders whose links are followed, with the paths that they lead to; nil until their disk has answered.
        var folders: [String: String?] = [:]
    }

    /// Maximum client requests that wait for a disk. The gallery sends 48 at once.
    private static let room = 64

    private static let state = Mutex(State())
    private static let mounts = MountPoints()

    /// Reads of the ledger, and long computations, which would hold up others.
    package static let ledger = FileLane(threads: 4)

    package static func work(on path: String) -> FileLane { lane(path, .work) }
    package static func looks(at path: String) -> FileLane { lane(path, .looks) }
    package static func copies(of path: String) -> FileLane { lane(path, .copies) }

    /// The lane of a file that a client has passed.
    package static func copies(of file: Descriptor) -> FileLane {
        copies(of: (try? FileSystem.target(of: "/proc/self/fd/\(file.number)")) ?? "/")
    }

    /// Follows the links of these folders, so that a path below a folder counts for the disk on which it really lies. A
    /// folder has lanes of its own until its disk has answered.
    package static func know(_ folders: some Sequence<String>) {
        for folder in folders {
            let isAsked = state.withLock { state in
                let isAsked = state.folders[folder].map { $0 == nil } ?? false
                if state.folders[folder] == nil { state.folders[folder] = .some(nil) }
                return isAsked
            }
            // The disk has not answered the first lookup, which already holds a thread.
            if isAsked { continue }
            lane(Key(disk: folder, purpose: .work)).async {
                let resolved = FileSystem.resolved(folder)
                state.withLock { $0.folders[folder] = .some(resolved) }
            }
        }
    }

    /// Disks that have kept a client's look waiting since before `time`.
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

    /// The mount point of a path, or a known folder above it whose disk has not answered yet.
    private static func disk(of path: String) -> String {
        let folders = state.withLock { $0.folders }
        let above = folders.keys.filter { FileSystem.lies(path, within: $0) }
        guard let folder = above.max(by: { $0.utf8.count < $1.utf8.count }) else { return mounts.point(of: path) }
        guard let resolved = folders[folder] ?? nil else { return folder }
        return mounts.point(of: path == folder ? resolved : resolved + path.dropFirst(folder.utf8.count))
    }
}
