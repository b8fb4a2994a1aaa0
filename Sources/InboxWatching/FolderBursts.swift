import DaemonRuntime
import Dispatch
import SystemCalls

/// Decides which files of an inbox's folders belong together: those that come into a folder right below the inbox,
/// until nothing has happened in it for a while. Such a burst becomes a batch. It also knows the folders that came with
/// a burst, and are to go with it. It reads neither disk nor clock: its owner passes in what they say.
struct FolderBursts: Sendable {
    private struct Burst {
        /// The time of the last change in the folder.
        var heard: DispatchTime
        /// A file of it has been taken.
        var isTaken = false
        /// Somebody is to be told of its end, even if no file of it is taken.
        var isExpected = false
        /// Files still settle: their end is told of, and needs no appointment.
        var waits = false
        /// The folders that have come in this burst.
        var came: Set<FileSystem.Key> = []
    }

    /// A burst that is over.
    struct Ended: Equatable {
        var folder: FileSystem.Key
        /// The folders that came in it, each behind those below it. Without a file they are their maker's to fill.
        var came: [String]
    }

    /// Why a burst is not over.
    enum Work { case settling, writing }

    private let inbox: String
    private var bursts: [FileSystem.Key: Burst] = [:]
    /// The folders that have been seen, at any depth. One that is seen later has come.
    private var known: Set<FileSystem.Key> = []

    init(in inbox: String) { self.inbox = inbox }

    /// The folders of which a burst is not over.
    var folders: [FileSystem.Key] { Array(bursts.keys) }

    func contains(_ top: FileSystem.Key) -> Bool { bursts[top] != nil }

    // MARK: - What happens

    /// A folder is there. It has come when it is new to the inbox, and the inbox itself is not, or when the kernel says so:
    /// the first look may see a folder that comes meanwhile.
    mutating func found(_ folder: String, hasCome: Bool, isNew: Bool = false, at now: DispatchTime) {
        let key = FileSystem.Key(folder)
        let isUnknown = known.insert(key).inserted
        guard isNew || (isUnknown && hasCome) else { return }
        let top = Self.top(of: folder, below: inbox) ?? key
        bursts[top, default: Burst(heard: now)].came.insert(key)
        touch(top, at: now)
    }

    /// No other folders are there.
    mutating func forget(but found: Set<FileSystem.Key>) {
        known.formIntersection(found)
        for key in bursts.keys { bursts[key]?.came.formIntersection(found) }
    }

    mutating func gone(_ folder: String) {
        let isGone = { (key: FileSystem.Key) in FileSystem.lies(key.path, within: folder) }
        known = known.filter { !isGone($0) }
        for (key, burst) in bursts { bursts[key]?.came = burst.came.filter { !isGone($0) } }
    }

    /// Something has changed at this path.
    mutating func heard(_ path: String, at now: DispatchTime) {
        guard !bursts.isEmpty, let top = Self.top(of: path, below: inbox), bursts[top] != nil else { return }
        touch(top, at: now)
    }

    /// A file was taken.
    mutating func took(_ path: String, at now: DispatchTime) {
        guard let top = Self.top(of: path, below: inbox) else { return }
        bursts[top, default: Burst(heard: now)].isTaken = true
        touch(top, at: now)
    }

    /// Somebody waits for the end of the folder's burst, which begins now if it has not begun.
    mutating func expect(_ top: FileSystem.Key, at now: DispatchTime) {
        bursts[top, default: Burst(heard: now)].isExpected = true
    }

    private mutating func touch(_ top: FileSystem.Key, at now: DispatchTime) {
        bursts[top]?.heard = now
        bursts[top]?.waits = false
    }

    // MARK: - Ends

    /// Ends the bursts that have been quiet for so long, and have no work left. Returns those of which files were taken,
    /// or which somebody expects.
    mutating func end(
        at now: DispatchTime, quiet: Duration, work: (_ folder: FileSystem.Key) -> Work?
    ) -> [Ended] {
        var ended: [Ended] = []
        for (top, burst) in bursts where burst.heard + quiet.dispatch <= now {
            switch work(top) {
            case .settling: bursts[top]?.waits = true
            // A writer may give up without a word.
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

    /// The time at which the next burst may be over.
    func next(quiet: Duration) -> DispatchTime? {
        bursts.values.filter { !$0.waits }.map { $0.heard + quiet.dispatch }.min()
    }

    /// The folder right below the inbox that holds what is at this path, or nil.
    static func top(of path: String, below inbox: String) -> FileSystem.Key? {
        let rest = path.utf8.dropFirst(inbox.utf8.count + 1)
        guard let slash = rest.firstIndex(of: UInt8(ascii: "/")) else { return nil }
        return FileSystem.Key(String(decoding: path.utf8[..<slash], as: UTF8.self))
    }
}
