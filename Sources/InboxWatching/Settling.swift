import Dispatch
import PipelineModel
import ServiceProgram
import SystemCalls

/// Decides when an inbox's files are quiet, and in which order they are taken. Pure logic: the owner passes in disk
/// state and time.
struct Settling {
    /// A file that was found but not taken yet.
    private struct Candidate {
        var size: Int64
        var modified: Int64
        /// Time of the next check; `.distantFuture` while the inbox is held.
        var deadline: DispatchTime
        var isCancelled: Bool
        /// The folder directly below the inbox that contains the file, if any.
        let folder: FileSystem.Key?
        /// Whether the file can't be read at the moment.
        var isUnreadable = false

        var countedFolder: FileSystem.Key? { isUnreadable ? nil : folder }
    }

    /// Whether the inbox is polled. In a polled inbox, a file counts as unchanged if its size and modification time are
    /// the same as at the last check.
    var isPolled = false
    private let folder: String
    private let settings: InboxSettings
    private var candidates: [FileSystem.Key: Candidate] = [:]
    /// Number of readable candidates in each folder directly below the inbox.
    private var counts: [FileSystem.Key: Int] = [:]
    /// Cancelled files whose settling was interrupted by a reload or an unmount. They are still cancelled when they are
    /// found again.
    private var marked: Set<FileSystem.Key> = []
    private var writers: Writers
    /// Maximum number of files that settle at the same time. Further files are deferred.
    private let room: Int
    private var aside = DeferredFiles()
    /// Number of unreadable candidates. They use no slot, because they may stay unreadable.
    private var unreadable = 0

    static let usualRoom = 20_000

    init(in folder: String, _ settings: InboxSettings, room: Int = usualRoom) {
        (self.folder, self.settings, self.room) = (folder, settings, room)
        writers = Writers(patience: settings.writerTimeout)
    }

    var count: Int { candidates.count + aside.count }

    func contains(_ path: FileSystem.Key) -> Bool { candidates[path] != nil }

    /// Whether the file will become a cancelled job.
    func isCancelled(_ path: FileSystem.Key) -> Bool {
        marked.contains(path) || candidates[path]?.isCancelled ?? false || aside.isCancelled(path)
    }

    // MARK: - Room

    private var isFull: Bool { candidates.count - unreadable >= room }

    /// Names of the folder's deferred files.
    func namesAside(in folder: String) -> Set<FileSystem.Key> { aside.names(in: FileSystem.Key(folder)) }

    /// Defers a file if no slot is free. Returns false if the file may settle now.
    mutating func putAside(_ path: String) -> Bool {
        guard isFull, candidates[FileSystem.Key(path)] == nil else { return false }
        let top = FolderBursts.top(of: path, below: folder)
        aside.put(FileSystem.name(of: path), in: FileSystem.Key(FileSystem.folder(of: path)), top: top)
        return true
    }

    /// Removes and returns the next deferred file, if a slot is free for it.
    mutating func nextAside() -> String? {
        guard !isFull, let next = aside.next() else { return nil }
        if next.isCancelled { marked.insert(FileSystem.Key(next.path)) }
        return next.path
    }

    // MARK: - Time

    private var quietTime: Duration { isPolled ? settings.settlePolled : settings.settle }

    /// How long a folder must be quiet before its burst ends. The time is longer than the quiet time of a file, because
    /// files that are copied together arrive with gaps, and polling notices them late.
    var folderQuietTime: Duration { isPolled ? max(quietTime * 4, quietTime + settings.pollInterval) : quietTime * 4 }

    /// Why a folder's burst can't end yet, or nil. Unreadable files don't count, because they may stay unreadable for
    /// ever.
    func work(in folder: FileSystem.Key, at now: DispatchTime) -> FolderBursts.Work? {
        if counts[folder] != nil || aside.isIn(top: folder) { return .settling }
        return writers.areIn(folder.path, at: now) ? .writing : nil
    }

    /// Whether, at the Unix time `seconds`, the file's content and attributes have been unchanged for the quiet time.
    /// The change time can be trusted, because a copying program can't backdate it. Always false in a polled inbox.
    func isQuiet(_ file: FileStatus, at seconds: Double) -> Bool {
        !isPolled && Self.isUnchanged(file, for: quietTime, at: seconds)
    }

    static func isUnchanged(_ file: FileStatus, for time: Duration, at seconds: Double) -> Bool {
        max(file.modified, file.changed) <= Int64(seconds * 1e9) - Int64(time / .nanoseconds(1))
    }

    /// Whether a process has written to the file and not closed it since.
    func isWritten(_ path: String, at now: DispatchTime) -> Bool { writers.contains(path, at: now) }

    /// Processes an event. Calls `isEmpty` for a new file. If the file is empty, a process is probably about to write
    /// it. If the file has content, it arrived as a hard link.
    mutating func heard(_ event: Inotify.Event, at now: DispatchTime, isEmpty: (String) -> Bool) {
        writers.heard(event, at: now, isEmpty: isEmpty)
        switch event {
        case .gone(let path): forget(FileSystem.Key(path))
        case .folderGone(let folder):
            for key in candidates.keys where FileSystem.lies(key.path, within: folder) { drop(key) }
            aside.drop(within: folder)
        default: break
        }
    }

    /// Restarts the quiet time after a change. Returns the time of the next check, or nil if nothing has changed.
    mutating func settle(
        _ path: FileSystem.Key, _ file: FileStatus, at now: DispatchTime, cancelled: Bool = false
    ) -> DispatchTime? {
        if isPolled, isUnchanged(path, file) { return nil }
        return wait(path, file.size, file.modified, until: now + quietTime.dispatch, cancelled)
    }

    /// Makes a quiet file wait only for the other files in its folder. Returns the time of the next check, which is
    /// now.
    mutating func ripen(_ path: FileSystem.Key, _ file: FileStatus, at now: DispatchTime) -> DispatchTime {
        wait(path, file.size, file.modified, until: now, false)
    }

    /// Defers a file that can't be read. Returns the time of the next check, one PollInterval later.
    mutating func postpone(
        _ path: FileSystem.Key, _ file: FileStatus?, at now: DispatchTime, cancelled: Bool
    ) -> DispatchTime {
        let known = candidates[path]
        return wait(
            path, file?.size ?? known?.size ?? -1, file?.modified ?? known?.modified ?? 0,
            until: now + settings.pollInterval.dispatch, cancelled, isUnreadable: true)
    }

    /// Makes a quiet file wait until `release` is called.
    mutating func waitForRelease(_ path: FileSystem.Key, _ file: FileStatus, cancelled: Bool) {
        wait(path, file.size, file.modified, until: .distantFuture, cancelled)
    }

    /// Ends the wait of all files that `waitForRelease` has held back: they are due now.
    mutating func release(at now: DispatchTime) {
        for key in candidates.keys where candidates[key]?.deadline == .distantFuture { candidates[key]?.deadline = now }
    }

    @discardableResult
    private mutating func wait(
        _ path: FileSystem.Key, _ size: Int64, _ modified: Int64, until deadline: DispatchTime, _ cancelled: Bool,
        isUnreadable: Bool = false
    ) -> DispatchTime {
        put(
            Candidate(
                size: size, modified: modified, deadline: deadline, isCancelled: cancelled || isCancelled(path),
                folder: candidates[path].map(\.folder) ?? FolderBursts.top(of: path.path, below: folder),
                isUnreadable: isUnreadable), at: path)
        aside.forget(path)
        return deadline
    }

    private mutating func put(_ candidate: Candidate?, at path: FileSystem.Key) {
        let former = candidates[path]
        candidates[path] = candidate
        unreadable += (candidate?.isUnreadable == true ? 1 : 0) - (former?.isUnreadable == true ? 1 : 0)
        if let folder = former?.countedFolder, let count = counts[folder] {
            counts[folder] = count > 1 ? count - 1 : nil
        }
        if let folder = candidate?.countedFolder { counts[folder, default: 0] += 1 }
    }

    /// Whether the file's size and modification time are the same as at the last check.
    func isUnchanged(_ path: FileSystem.Key, _ file: FileStatus) -> Bool {
        guard let known = candidates[path] else { return false }
        return (known.size, known.modified) == (file.size, file.modified)
    }

    /// The files to take now, in order. The files of a copied folder become quiet one by one. They wait for each other,
    /// for at most eight times the quiet time, and are then taken in the order of their names.
    func due(at now: DispatchTime) -> [FileSystem.Key] {
        var settling: Set<FileSystem.Key> = []
        var came: [FileSystem.Key: DispatchTime] = [:]
        var ripe: [(key: FileSystem.Key, deadline: DispatchTime, folder: FileSystem.Key?)] = []
        for (key, candidate) in candidates where candidate.deadline != .distantFuture {
            let folder = candidate.folder
            if candidate.deadline <= now {
                ripe.append((key, candidate.deadline, folder))
                if let folder { came[folder] = min(came[folder] ?? .distantFuture, candidate.deadline) }
            } else if let folder {
                settling.insert(folder)
            }
        }
        let patience = (quietTime * 8).dispatch
        ripe.removeAll { file in
            file.folder.map(settling.contains) == true && now < file.deadline + patience
        }
        let order = ripe.map { file in
            (key: file.key, came: file.folder.flatMap { came[$0] } ?? file.deadline, name: NaturalOrder(file.key.path))
        }
        return order.sorted { ($0.came, $0.name) < ($1.came, $1.name) }.map(\.key)
    }

    /// The time after `now` at which the next candidate is due.
    func next(after now: DispatchTime) -> DispatchTime? {
        candidates.values.map(\.deadline).filter { $0 > now && $0 != .distantFuture }.min()
    }

    // MARK: - Cancelling and removing

    /// Removes the file from the candidates. Its entry in `marked`, if any, stays.
    mutating func drop(_ path: FileSystem.Key) { put(nil, at: path) }

    mutating func forget(_ path: FileSystem.Key) {
        drop(path)
        marked.remove(path)
        aside.forget(path)
    }

    /// Marks the chosen files as cancelled; returns the number of newly marked files.
    mutating func cancel(_ chosen: SettlingChoice) -> Int {
        let top: FileSystem.Key? =
            switch chosen {
            case .all: nil
            case .folder(let name): FileSystem.Key(FileSystem.join(folder, name))
            }
        let wanted = candidates.filter { !isCancelled($0.key) && (top == nil || $0.value.folder == top) }.keys
        for key in wanted { candidates[key]?.isCancelled = true }
        return wanted.count + aside.cancel(below: top)
    }

    /// Discards all candidates before the inbox is scanned again. Cancelled files stay marked.
    mutating func dropAll() {
        marked = marks
        (candidates, counts, unreadable, aside) = ([:], [:], 0, DeferredFiles())
    }

    /// The files that will become cancelled jobs. The inbox passes them on to its successor.
    var marks: Set<FileSystem.Key> {
        get { marked.union(candidates.filter(\.value.isCancelled).keys).union(aside.marks) }
        set { marked = newValue }
    }
}
