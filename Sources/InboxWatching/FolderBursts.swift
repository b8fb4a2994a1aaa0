import Dispatch
import ServiceProgram
import SystemCalls

/// Groups the files of an inbox's folders into bursts. A burst consists of all files that arrive in one folder directly
/// below the inbox, until nothing has changed there for a while. Each burst becomes a batch. This type also tracks the
/// folders that arrive during a burst, so that the inbox can remove them afterwards. Pure logic: the owner passes in
/// disk state and time.
struct FolderBursts: Sendable {
    private struct Burst {
        /// Time of the last change in the folder.
        var heard: DispatchTime
        /// Whether at least one of the burst's files has been taken.
        var isTaken = false
        /// Whether the end of the burst must be reported even if no file is taken.
        var isExpected = false
        /// Whether files of the burst are still settling. The inbox checks again when they have settled, so no timer is
        /// needed.
        var waits = false
        /// Folders that arrived during this burst.
        var came: Set<FileSystem.Key> = []
    }

    /// A finished burst.
    struct Ended: Equatable {
        var folder: FileSystem.Key
        /// Folders that arrived during the burst, subfolders first, for the inbox to remove if nothing is in them. The
        /// list is empty if no file was taken, because the creator of the folders may still fill them.
        var came: [String]
    }

    /// Why a burst has not ended although nothing has changed for a while.
    enum Work { case settling, writing }

    private let inbox: String
    private var bursts: [FileSystem.Key: Burst] = [:]
    /// Folders seen so far, at any depth. A folder that is not in this set counts as a new arrival.
    private var known: Set<FileSystem.Key> = []

    init(in inbox: String) { self.inbox = inbox }

    /// Folders with an unfinished burst.
    var folders: [FileSystem.Key] { Array(bursts.keys) }

    func contains(_ top: FileSystem.Key) -> Bool { bursts[top] != nil }

    // MARK: - Changes

    /// Records a folder that exists. The folder counts as an arrival if it is unknown and `hasCome` is true, or if the
    /// kernel has reported it as new (`isNew`). In the first scan, `hasCome` is false, so only `isNew` reveals a folder
    /// that arrives during that scan.
    mutating func found(_ folder: String, hasCome: Bool, isNew: Bool = false, at now: DispatchTime) {
        let key = FileSystem.Key(folder)
        let isUnknown = known.insert(key).inserted
        guard isNew || (isUnknown && hasCome) else { return }
        let top = Self.top(of: folder, below: inbox) ?? key
        bursts[top, default: Burst(heard: now)].came.insert(key)
        touch(top, at: now)
    }

    /// Forgets all folders that are not in `found`.
    mutating func forget(but found: Set<FileSystem.Key>) {
        known.formIntersection(found)
        for key in bursts.keys { bursts[key]?.came.formIntersection(found) }
    }

    mutating func gone(_ folder: String) {
        let isGone = { (key: FileSystem.Key) in FileSystem.lies(key.path, within: folder) }
        known = known.filter { !isGone($0) }
        for (key, burst) in bursts { bursts[key]?.came = burst.came.filter { !isGone($0) } }
    }

    /// Records a change at this path, which restarts the quiet time of its folder's burst.
    mutating func heard(_ path: String, at now: DispatchTime) {
        guard !bursts.isEmpty, let top = Self.top(of: path, below: inbox), bursts[top] != nil else { return }
        touch(top, at: now)
    }

    /// Records that the inbox has taken a file.
    mutating func took(_ path: String, at now: DispatchTime) {
        guard let top = Self.top(of: path, below: inbox) else { return }
        bursts[top, default: Burst(heard: now)].isTaken = true
        touch(top, at: now)
    }

    /// Records that a client waits for the end of the folder's burst, and starts a burst if there is none.
    mutating func expect(_ top: FileSystem.Key, at now: DispatchTime) {
        bursts[top, default: Burst(heard: now)].isExpected = true
    }

    private mutating func touch(_ top: FileSystem.Key, at now: DispatchTime) {
        bursts[top]?.heard = now
        bursts[top]?.waits = false
    }

    // MARK: - Ending bursts

    /// Ends the bursts that have been quiet for `quiet` and have no work left. Of these, returns the bursts from which
    /// files were taken, and the bursts for which a client waits.
    mutating func end(
        at now: DispatchTime, quiet: Duration, work: (_ folder: FileSystem.Key) -> Work?
    ) -> [Ended] {
        var ended: [Ended] = []
        for (top, burst) in bursts where burst.heard + quiet.dispatch <= now {
            switch work(top) {
            case .settling: bursts[top]?.waits = true
            // A writer may stop without any event, so check again after another quiet time.
            case .writing: touch(top, at: now)
            case nil:
                bursts[top] = nil
                guard burst.isTaken || burst.isExpected else { continue }
                let came = burst.isTaken ? burst.came.map(\.path).sorted { $0.utf8.count > $1.utf8.count } : []
                ended.append(Ended(folder: top, came: came))
            }
        }
        return ended.sorted { NaturalOrder($0.folder.path) < NaturalOrder($1.folder.path) }
    }

    /// When the next burst may end.
    func next(quiet: Duration) -> DispatchTime? {
        bursts.values.filter { !$0.waits }.map { $0.heard + quiet.dispatch }.min()
    }

    /// The folder directly below the inbox that contains this path, or nil.
    static func top(of path: String, below inbox: String) -> FileSystem.Key? {
        let rest = path.utf8.dropFirst(inbox.utf8.count + 1)
        guard let slash = rest.firstIndex(of: UInt8(ascii: "/")) else { return nil }
        return FileSystem.Key(String(decoding: path.utf8[..<slash], as: UTF8.self))
    }
}
