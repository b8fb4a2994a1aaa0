package import DaemonRuntime
import Dispatch
import Glibc
package import PipelineModel
import Synchronization
package import SystemCalls

/// A watched folder, whose files are seen, settle and are claimed. Its queue is its own, so that a mount that hangs holds
/// up this inbox alone.
package actor Inbox: QueueActor {
    package nonisolated let folder: String
    package nonisolated let recipe: Recipe
    /// Bytes in front of a picture's path in the inbox, at the longest place it may go to.
    nonisolated let longestPlace: Int
    /// Folders below that belong to other recipes.
    private let excluded: [String]
    package nonisolated let executor: QueueExecutor
    let shared = Mutex(InboxReport())
    unowned let sink: any IntakeSink
    let claims: ClaimFolders

    private var inotify: Inotify?
    var settling: Settling
    var bursts: FolderBursts
    var ready: [Claim] = []
    /// The claim folder, held open until the files claimed together are handed over.
    var claiming: ClaimFolder?
    var kept = KeptFiles()
    /// Lines already logged, by file or folder; forgotten with it.
    var logged: [FileSystem.Key: String] = [:]
    /// Files that this inbox itself is renaming back, which are no arrivals.
    var givenBack: Set<FileSystem.Key> = []
    private var checkAt: DispatchTime?
    /// The folder that was opened, and the most mounts that it has been under.
    private var place: InboxPlace?
    private var mounts = 0
    /// Files that may have been claimed, by their places.
    var unsure: [String: UnsureClaim] = [:]
    var looksAgain = false
    private var scansLater = false
    /// Counts the appointments after PollInterval; only the latest is kept.
    private var appointment = 0
    /// Its predecessor on the same folder has ended.
    private var hasBegun = false
    var stopped = false
    /// Called at the end of an inbox that was stopped before it has begun: its successor waits for its predecessor.
    private var ended: (@Sendable (Remains) -> Void)?
    private var adopts = false

    /// The most claims that are handed over at once. The inbox waits until they are durable before it takes more.
    static let batch = 256

    package init(
        folder: String, recipe: Recipe, longestPlace: Int, excluded: [String], claims: ClaimFolders,
        sink: any IntakeSink
    ) {
        (self.longestPlace, self.folder, self.recipe, self.excluded) = (longestPlace, folder, recipe, excluded)
        (self.claims, self.sink) = (claims, sink)
        settling = Settling(in: folder, recipe.intake)
        bursts = FolderBursts(in: folder)
        executor = QueueExecutor("pipelined.inbox.\(recipe.name)")
    }

    nonisolated var subject: LogSubject { LogSubject(recipe: recipe.name) }

    package nonisolated var report: InboxReport { shared.withLock { $0 } }

    package static func reasonForLeaving(_ kind: FileStatus.Kind) -> String { "a \(kind.rawValue) is not followed" }

    /// The reason why a file in it is left alone.
    package nonisolated func reason(for path: String) -> String? {
        shared.withLock { $0.reasons[FileSystem.Key(path)] }
    }

    /// `adopting` takes in files that a crash has left claimed; it is for the start only, when nobody else claims.
    package nonisolated func begin(adopting: Bool, with remains: Remains? = nil) {
        async { inbox in
            inbox.hasBegun = true
            inbox.adopts = adopting
            inbox.settling.marks = remains?.marked ?? []
            inbox.unsure = remains?.unsure ?? [:]
            inbox.bursts = remains?.bursts ?? inbox.bursts
            if let ended = inbox.ended { return ended(inbox.end()) }
            if !inbox.unsure.isEmpty { inbox.lookAgain() }
            inbox.open()
        }
    }

    /// State that an inbox hands to its successor for the same folder.
    package struct Remains: Sendable {
        var marked: Set<FileSystem.Key> = []
        var unsure: [String: UnsureClaim] = [:]
        var bursts: FolderBursts?

        /// Tells `sink` that the bursts are over, when the inbox has no successor.
        package func end(_ inbox: Inbox, in sink: any IntakeSink) {
            for folder in bursts?.folders ?? [] { sink.ended(folder: FileSystem.name(of: folder.path), of: inbox) }
        }
    }

    /// Calls `done` behind everything that the inbox was asked before.
    package nonisolated func afterwards(_ done: @escaping @Sendable () -> Void) { queue.async(execute: done) }

    /// Takes nothing more; calls `done` when all claims have been handed over. It does not wait: a hanging inbox must
    /// not keep the daemon from stopping.
    package nonisolated func stop(_ done: @escaping @Sendable (Remains) -> Void = { _ in }) {
        async { inbox in
            inbox.stopped = true
            if inbox.hasBegun { done(inbox.end()) } else { inbox.ended = done }
        }
    }

    private func end() -> Remains {
        inotify = nil
        return Remains(marked: settling.marks, unsure: unsure, bursts: bursts)
    }

    /// Takes nothing while there is a reason for that; files that settle meanwhile are taken afterwards.
    package nonisolated func hold(_ reason: String?) {
        let change = shared.withLock { report in
            defer { report.held = reason }
            return report.held != reason
        }
        guard change else { return }
        if reason == nil { async { $0.goOn() } }
        sink.changed(self)
    }

    private func goOn() {
        guard !stopped else { return }
        settling.release(at: .now())
        check()
    }

    /// Reads all events from before the call; with `cancelling`, files that still settle are to end cancelled.
    package nonisolated func catchUp(
        cancelling: Bool, wanted: @escaping @Sendable () -> Bool, done: @escaping @Sendable () -> Void
    ) {
        async {
            // If the caller has gone on, files that settle now came after the call.
            if wanted() { $0.catchUp(cancelling: cancelling) }
            done()
        }
    }

    private func catchUp(cancelling: Bool) {
        if let inotify { handle(inotify.read()) } else if settling.isPolled { scan() }
        if cancelling { settling.cancelAll() }
        publishReport()
    }

    // MARK: - Watching

    /// Checks whether the folder has been replaced: inotify does not report mounts.
    package nonisolated func mountsChanged() {
        async { if $0.hasBegun, !$0.isUnmoved { $0.reopen() } }
    }

    private var isUnmoved: Bool {
        guard report.problem == nil, let now = try? look() else { return false }
        return now == place
    }

    private func look() throws -> InboxPlace? {
        try FileSystem.status(folder).map {
            InboxPlace(
                mounts: try MountTable.depth(of: FileSystem.resolved(folder)), device: $0.device, inode: $0.inode)
        }
    }

    private func reopen() {
        inotify = nil
        settling.dropAll()
        open()
    }

    /// Runs `body` after PollInterval, unless something else comes first.
    private func later(_ body: @escaping @Sendable (isolated Inbox) -> Void) {
        appointment += 1
        let mine = appointment
        afterInterval { if $0.appointment == mine { body($0) } }
    }

    /// Runs `body` after PollInterval, unless the inbox has stopped by then.
    func afterInterval(_ body: @escaping @Sendable (isolated Inbox) -> Void) {
        at(.now() + recipe.intake.pollInterval.dispatch, body)
    }

    private func at(_ time: DispatchTime, _ body: @escaping @Sendable (isolated Inbox) -> Void) {
        queue.asyncAfter(deadline: time) { [weak self] in self?.assumeIsolated { if !$0.stopped { body($0) } } }
    }

    private func open() {
        guard !stopped else { return }
        appointment += 1
        do {
            // The folder below a missing mount is not the inbox: nothing is made in it, and nothing taken.
            guard try MountTable.depth(of: FileSystem.resolved(folder)) >= mounts else {
                return broken("its file system is not mounted any more; mount it, and work goes on")
            }
            // The group may put pictures there, as umask or ACL allow, but not remove those of others.
            try FileSystem.makeFolders(folder, mode: 0o1777)
            claiming = nil
            let claims = try claims.begin(folder) { try sink.needsClaims(in: folder) }
            kept = try sink.kept(in: folder)
            if adopts { try adopt(claims) }
            adopts = false
            let foreign = try FileSystemType.polled(folder)
            do throws(SystemError) {
                _ = try FileSystem.names(in: folder)
            } catch {
                return broken(Permission.unreadable(folder, "folder", error))
            }
            place = try look()
            mounts = max(mounts, place?.mounts ?? 0)
            settling.isPolled =
                recipe.intake.watch == .poll || (recipe.intake.watch == .auto && foreign != nil)
            if report.problem != nil { Log.notice("inbox \(folder): is there again", of: subject) }
            shared.withLock {
                $0.problem = nil
                $0.watch = settling.isPolled ? "poll" + (foreign.map { " (\($0))" } ?? "") : "inotify"
            }
            if settling.isPolled { pollLater() } else { startInotify() }
            shared.withLock { $0.isOpen = true }
            sink.changed(self)
            scan(isFirst: true)
            shared.withLock { $0.scanned = true }
            sink.changed(self)
        } catch {
            broken(Permission.unusable(folder, error))
        }
    }

    private func startInotify() {
        do {
            inotify = try Inotify(top: folder, queue: queue) { [unowned self] in
                assumeIsolated { inbox in if let inotify = inbox.inotify { inbox.handle(inotify.read()) } }
            }
        } catch {
            fallBack(error)
        }
    }

    /// Polls from now on: the number of watches is limited, and polling is slower, but sees everything.
    private func fallBack(_ error: SystemError) {
        inotify = nil
        guard !settling.isPolled else { return }
        settling.isPolled = true
        shared.withLock { $0.watch = "poll (\(error.reason))" }
        pollLater()
        Log.failure(
            "inbox \(folder): can't be watched (\(error)); polling it every \(recipe.intake.pollInterval.text)",
            advice: error.code == ENOSPC ? "raise fs.inotify.max_user_watches" : nil, of: subject)
    }

    func broken(_ problem: String) {
        guard !stopped else { return }
        inotify = nil
        settling.dropAll()
        let news = shared.withLock { report in
            defer {
                report.problem = problem
                report.isOpen = true
            }
            return report.problem != problem
        }
        if news {
            Log.failure(
                "inbox \(folder): \(problem); trying again every \(recipe.intake.pollInterval.text)", of: subject)
        }
        publishReport()
        later { $0.open() }
    }

    private func pollLater() {
        later { inbox in
            do {
                guard try FileSystem.exists(inbox.folder) else { return inbox.broken("the folder is gone") }
            } catch {
                return inbox.broken("\(error)")
            }
            inbox.scan()
            if inbox.report.problem == nil { inbox.pollLater() }
        }
    }

    private func handle(_ events: [Inotify.Event]) {
        guard !stopped else { return }
        for event in events {
            settling.heard(event, at: .now()) { (try? FileSystem.status($0))?.size == 0 }
            switch event {
            case .changed(let path), .made(let path), .written(let path), .closed(let path):
                bursts.heard(path, at: .now())
                consider(path, quiet: false)
            case .movedIn(let path):
                bursts.heard(path, at: .now())
                consider(path, quiet: givenBack.remove(FileSystem.Key(path)) == nil)
            case .gone(let path):
                bursts.heard(path, at: .now())
                logged[FileSystem.Key(path)] = nil
                forgetIgnored(path)
            case .folderAppeared(let path): scan(path)
            case .misnamed(let folder): ignoreMisnamed(in: folder)
            case .folderGone(let path):
                bursts.gone(path)
                logged = logged.filter { !FileSystem.lies($0.key.path, within: path) }
                forgetIgnored(where: { FileSystem.lies($0.path, within: path) })
            case .overflow:
                Log.notice(
                    "inbox \(folder): more happened than the kernel could tell; looking through it again", of: subject)
                scan()
            case .topGone:
                handOver()
                return broken("the folder is gone")
            }
        }
        finishLook()
    }

    // MARK: - Looking

    /// Looks at everything. The folders that it finds have come since the last look, unless it is the first.
    private func scan(isFirst: Bool = false) {
        // A settling file keeps the reason for which it is looked at again.
        forgetIgnored(where: { !settling.contains($0) })
        if let found = scan(folder, isFirst: isFirst) { bursts.forget(but: found) }
        logged = logged.filter { FileSystem.mayExist($0.key.path) }
        finishLook()
    }

    /// Returns the folders that are there, or nil when some can't be read.
    @discardableResult
    private func scan(_ top: String, isFirst: Bool = false) -> Set<FileSystem.Key>? {
        var folders = [top]
        var isWhole = true
        var found: Set<FileSystem.Key> = []
        while let path = folders.popLast() {
            if isOthers(path) { continue }
            if path != folder {
                bursts.found(path, hasCome: !isFirst, at: .now())
                found.insert(FileSystem.Key(path))
            }
            if path != folder, let inotify {
                do {
                    try inotify.add(path)
                } catch {
                    if error.isMissing { continue }
                    // A folder that can't be read is ignored below; an inbox that lacks watches is polled.
                    if error.isPassing { scanLater() } else if !error.isRefusal { fallBack(error) }
                }
            }
            let names: [String?]
            do {
                names = try FileSystem.names(in: path).sorted { ($0 ?? "") < ($1 ?? "") }
            } catch {
                let reason = Permission.unreadable(path, "folder", error)
                if path == folder {
                    broken(reason)
                    return nil
                }
                if error.isMissing { continue }
                isWhole = false
                ignore(path, reason)
                if error.isPassing { scanLater() }
                continue
            }
            var below: [String] = []
            defer { folders += below.reversed() }
            for name in names {
                guard let name else {
                    ignoreMisnamed(in: path)
                    continue
                }
                let child = FileSystem.join(path, name)
                if isOthers(child) { continue }  // Not even asked what it is: its disk may not answer.
                if consider(child, quiet: false, found: true) == .folder { below.append(child) }
            }
        }
        return isWhole ? found : nil
    }

    private func scanLater() {
        guard !settling.isPolled, !scansLater else { return }
        scansLater = true
        afterInterval {
            $0.scansLater = false
            if $0.report.problem == nil { $0.scan() }
        }
    }

    private func isOthers(_ path: String) -> Bool {
        FileNames.isHidden(FileSystem.name(of: path)) && path != folder
            || excluded.contains { FileSystem.lies(path, within: $0) }
    }

    /// Looks at one file: leaves it alone, waits for it to be quiet, or takes it.
    @discardableResult
    private func consider(_ path: String, quiet: Bool, found: Bool = false) -> FileStatus.Kind? {
        let name = FileSystem.name(of: path)
        let known: FileStatus?
        do {
            known = FileNames.isPartial(name) ? nil : try FileSystem.status(path)
        } catch {
            unseen(path, error)
            return nil
        }
        guard let status = known else {
            settling.drop(FileSystem.Key(path))
            return nil
        }
        switch status.kind {
        case .folder: return .folder
        case .link, .other:
            ignore(path, Self.reasonForLeaving(status.kind))
            return nil
        case .file: break
        }
        guard recipe.matches(name) else {
            ignore(path, FileNames.reasonForIgnoring(name, recipe: recipe.name))
            return nil
        }
        if kept.contains(path, status.identity) { return .file }
        let key = FileSystem.Key(path)
        let isQuiet = quiet || (found && settling.isQuiet(status, at: Timestamp.now()))
        if isQuiet, found, FolderBursts.top(of: path, below: folder) != nil {
            // The files of a folder that was moved in are taken in the order of their names.
            checkLater(settling.ripen(key, status, at: .now()))
        } else if isQuiet {
            take(path, status, cancelled: settling.isCancelled(key))
        } else {
            settle(path, status)
        }
        return .file
    }

    /// The status of a file can't be read.
    func unseen(_ path: String, _ error: SystemError) {
        guard error.isPassing else { return ignore(path, Permission.unreadable(path, "file", error)) }
        // The path may be a folder.
        scanLater()
        if recipe.matches(FileSystem.name(of: path)) { again(path, error) }
    }

    // MARK: - Settling

    func settle(_ path: String, _ status: FileStatus, cancelled: Bool = false) {
        checkLater(settling.settle(FileSystem.Key(path), status, at: .now(), cancelled: cancelled))
    }

    func checkLater(_ time: DispatchTime?) {
        guard let time, time < checkAt ?? .distantFuture else { return }
        checkAt = time
        at(time) {
            guard $0.checkAt == time else { return }
            $0.checkAt = nil
            $0.check()
        }
    }

    private func check() {
        let now = DispatchTime.now()
        // No file is looked at before its time has come: the events begin it anew.
        for key in settling.due(at: now) where settling.contains(key) {
            let path = key.path
            let known: FileStatus?
            do {
                known = try FileSystem.status(path)
            } catch {
                unseen(path, error)
                continue
            }
            guard let status = known, status.kind == .file else {
                settling.drop(key)
                continue
            }
            if settling.isUnchanged(key, status) {
                take(path, status, cancelled: settling.isCancelled(key))
            } else {
                settle(path, status)
            }
        }
        finishLook()
        checkLater(settling.next(after: now).map { max($0, now + .milliseconds(20)) })
    }

    /// The disk or the machine refuses for the moment. The file settles until it can be read, and the report says why.
    func again(_ path: String, _ error: SystemError, _ status: FileStatus? = nil, cancelled: Bool = false) {
        let reason = "\(Permission.unreadable(path, "file", error)); it is tried again"
        logOnce("\(path): \(reason)", of: path, input: FileSystem.relative(path, to: folder))
        note(path, reason)
        checkLater(settling.postpone(FileSystem.Key(path), status, at: .now(), cancelled: cancelled))
    }

    /// May be called on any queue.
    nonisolated func report(settling: Int) { shared.withLock { $0.settling = settling } }

    func publishReport() {
        shared.withLock {
            $0.settling = settling.count + unsure.count
            $0.ignored = $0.reasons.count
        }
        sink.changed(self)
    }
}
