import DaemonRuntime
import Dispatch
import SystemCalls

/// Groups the files of an inbox's folders into bursts: all files that arrive in a folder directly below the inbox until
/// nothing has changed there for a while. A burst becomes a batch. Also tracks folders that arrived with a burst, which
/// are removed with it. Pure logic: the owner passes in disk state and time.
struct FolderBursts: Sendable {
    private struct Burst {
        /// Time of the last change in the folder.
        var heard: DispatchTime
        /// At least one of its files has been taken.
        var isTaken = false
        /// The end of the burst must be reported even if none of its files is taken.
        var isExpected = false
        /// Files are still settling. Their end triggers the next check, so no timer is needed.
        var waits = false
        /// Folders that arrived in this burst.
        var came: Set<FileSystem.Key> = []
    }

    /// A finished burst.
    struct Ended: Equatable {
        var folder: FileSystem.Key
        /// Folders that arrived with it, subfolders first. Empty if no file was taken: their creator may still fill
        /// them.
        var came: [String]
    }

    /// Why a burst has not ended.
    enum Work { case settling, writing }

    private let inbox: String
    private var bursts: [FileSystem.Key: Burst] = [:]
    /// Folders seen so far, at any depth. Any other folder counts as a new arrival.
    private var known: Set<FileSystem.Key> = []

    init(in inbox: String) { self.inbox = inbox }

    /// Folders with an unfinished burst.
    var folders: [FileSystem.Key] { Array(bursts.keys) }

    func contains(_ top: FileSystem.Key) -> Bool { bursts[top] != nil }

    // MARK: - Changes

    /// Records an existing folder. It counts as an arrival if it is unknown and `hasCome`, or if the kernel reports it
    /// as new (`isNew`): even the first scan may see a folder that arrives meanwhile.
    mutating func found(_ folder: String, hasCome: Bool, isNew: Bool = false, at now: DispatchTime) {
        let key = FileSystem.Key(folder)
        let isUnknown = known.insert(key).inserted
        guard isNew || (isUnknown && hasCome) else { return }
        let top = Self.top(of: folder, below: inbox) ?? key
        bursts[top, default: Burst(heard: now)].came.insert(key)
        touch(top, at: now)
    }

    /// Forgets all folders except `found`.
    mutating func forget(but found: Set<FileSystem.Key>) {
        known.formIntersection(found)
        for key in bursts.keys { bursts[key]?.came.formIntersection(found) }
    }

    mutating func gone(_ folder: String) {
        let isGone = { (key: FileSystem.Key) in FileSystem.lies(key.path, within: folder) }
        known = known.filter { !isGone($0) }
        for (key, burst) in bursts { bursts[key]?.came = burst.came.filter { !isGone($0) } }
    }

    /// Records a change at this path.
    mutating func heard(_ path: String, at now: DispatchTime) {
        guard !bursts.isEmpty, let top = Self.top(of: path, below: inbox), bursts[top] != nil else { return }
        touch(top, at: now)
    }

    /// Records that a file was taken.
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

    // MARK: - Ends

    /// Ends bursts that have been quiet for `quiet` and have no work left. Returns those with files taken, and those
    /// that a client waits for.
    mutating func end(
        at now: DispatchTime, quiet: Duration, work: (_ folder: FileSystem.Key) -> Work?
    ) -> [Ended] {
        var ended: [Ended] = []
        for (top, burst) in bursts where burst.heard + quiet.dispatch <= now {
            switch work(top) {
            case .settling: bursts[top]?.waits = true
            // A writer may give up without an event, so check again later.
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
