import Dispatch
import Glibc
package import PipelineModel
package import ServiceProgram
import Synchronization
package import SystemCalls

/// A watched folder. The inbox detects new files, waits until they settle, and claims them. Each inbox has its own
/// queue, so that a mount that hangs blocks no other inbox.
package actor Inbox: QueueActor {
    /// The folder that an inbox watches, the recipe for its files, and restrictions on the files that it takes.
    package struct Watch: Sendable {
        var folder: String
        var recipe: Recipe
        /// Length in bytes of the longest folder path to which a picture's relative path may be appended.
        var longestPlace: Int
        /// Folders within the inbox that belong to other recipes.
        var excluded: [String]
        /// Why this inbox takes no files at all, if its recipe is held; else nil.
        var refusal: String?

        package init(folder: String, recipe: Recipe, longestPlace: Int, excluded: [String], refusal: String?) {
            (self.folder, self.recipe, self.longestPlace) = (folder, recipe, longestPlace)
            (self.excluded, self.refusal) = (excluded, refusal)
        }
    }

    private nonisolated let watch: Watch
    package nonisolated let executor: QueueExecutor
    let shared: Mutex<InboxReport>
    unowned let sink: any IntakeSink
    let claims: ClaimFolders

    var inotify: Inotify?
    var settling: Settling
    var bursts: FolderBursts
    var ready: [Claim] = []
    /// The open claim folder, which all claims share until they are handed over.
    var claiming: ClaimFolder?
    var kept = KeptFiles()
    /// The last message logged for each file or folder, to avoid repetition.
    var logged: [FileSystem.Key: String] = [:]
    /// Files that this inbox has moved back itself. The inbox must not mistake the events of its own moves for events
    /// of another program.
    var givenBack: Set<FileSystem.Key> = []
    private var checkAt: DispatchTime?
    /// Identifies the folder that was opened. `mounts` is the highest number of mounts seen on the folder's path so
    /// far.
    var place: InboxPlace?
    var mounts = 0
    /// Files that may or may not have been claimed, by claim path.
    var unsure: [String: UnsureClaim] = [:]
    var looksAgain = false
    var scansLater = false
    /// Number of timers set with `later`. Only the latest timer takes effect.
    var appointment = 0
    /// Whether the inbox has begun. It begins when its predecessor for the same folder has ended.
    var hasBegun = false
    var stopped = false
    /// The handler of a call to `stop` that came before the inbox began. `begin` then calls the handler instead of
    /// opening the inbox, because the inbox's successor waits for the handler's call.
    private var ended: (@Sendable (HandOver) -> Void)?
    var adopts = false
    /// Calls to `catchUp` that wait until the inbox has begun.
    private var early: [@Sendable (isolated Inbox) -> Void] = []
    /// Calls to `catchUp` that wait for an answer.
    private let calls = Mutex<[PendingInboxRead]>([])
    private let progress = Mutex((steps: 0, isComputing: false))

    /// Maximum number of claims that the inbox hands over together. Before it takes more files, the inbox waits until
    /// these claims are durable.
    static let batch = 256

    package init(
        _ watch: Watch, claims: ClaimFolders, sink: any IntakeSink, room: Int? = nil
    ) {
        shared = Mutex(InboxReport(held: watch.refusal))
        (self.watch, self.claims, self.sink) = (watch, claims, sink)
        settling = Settling(in: watch.folder, watch.recipe.intake, room: room ?? Settling.usualRoom)
        bursts = FolderBursts(in: watch.folder)
        executor = QueueExecutor("pipelined.inbox.\(watch.recipe.name)")
    }

    package nonisolated var folder: String { watch.folder }
    package nonisolated var recipe: Recipe { watch.recipe }
    nonisolated var longestPlace: Int { watch.longestPlace }
    nonisolated var excluded: [String] { watch.excluded }
    package nonisolated var refusal: String? { watch.refusal }

    nonisolated var subject: LogSubject { LogSubject(recipe: recipe.name) }

    package nonisolated var report: InboxReport { shared.withLock { $0 } }

    package static func reasonForLeaving(_ kind: FileStatus.Kind) -> String { "a \(kind.rawValue) is not followed" }

    /// Why a file in the inbox is skipped, or nil.
    package nonisolated func reason(for path: String) -> String? {
        shared.withLock { $0.reasons[FileSystem.Key(path)] }
    }

    /// Starts the inbox. If `adopting` is true, also creates jobs for files that a crash left claimed. Pass true only
    /// at the daemon's start, when no other inbox claims files.
    package nonisolated func begin(adopting: Bool, with remains: HandOver? = nil) {
        async { inbox in
            inbox.hasBegun = true
            inbox.adopts = adopting || remains?.adopts ?? false
            inbox.settling.marks = remains?.marked ?? []
            inbox.unsure = remains?.unsure ?? [:]
            inbox.bursts = remains?.bursts ?? inbox.bursts
            defer {
                for call in inbox.early { call(inbox) }
                inbox.early = []
            }
            if let ended = inbox.ended { return ended(inbox.end()) }
            if !inbox.unsure.isEmpty { inbox.lookAgain() }
            inbox.open()
        }
    }

    /// The state that an inbox passes to the next inbox for the same folder, its successor.
    package struct HandOver: Sendable {
        var marked: Set<FileSystem.Key> = []
        var unsure: [String: UnsureClaim] = [:]
        var bursts: FolderBursts?
        /// Whether there may be claimed files without a job.
        var adopts = false

        /// Reports to `sink` that all unfinished bursts have ended. Call this if the inbox has no successor.
        package func end(_ inbox: Inbox, in sink: any IntakeSink) {
            for folder in bursts?.folders ?? [] { sink.ended(folder: FileSystem.name(of: folder.path), of: inbox) }
        }
    }

    /// Calls `done` when the inbox has processed all earlier requests.
    package nonisolated func afterwards(_ done: @escaping @Sendable () -> Void) { queue.async(execute: done) }

    /// Stops taking files; calls `done` when all claims have been handed over. Does not block: a hanging inbox must not
    /// keep the daemon from stopping.
    package nonisolated func stop(_ done: @escaping @Sendable (HandOver) -> Void = { _ in }) {
        async { inbox in
            inbox.stopped = true
            if inbox.hasBegun { done(inbox.end()) } else { inbox.ended = done }
        }
    }

    private func end() -> HandOver {
        inotify = nil
        return HandOver(marked: settling.marks, unsure: unsure, bursts: bursts, adopts: adopts)
    }

    /// Keeps the inbox from taking files. `reason` is shown to users. If `reason` is nil, the inbox takes files again,
    /// including the files that have settled meanwhile.
    package nonisolated func hold(_ reason: String?) {
        let reason = refusal ?? reason
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

    // MARK: - Catching up

    /// Processes all events that happened before the call. Cancels the chosen files in the inbox, and passes their
    /// number to `done`. While a call waits, the inbox takes no new files; it finishes the check in progress and then
    /// answers.
    package nonisolated func catchUp(
        cancelling chosen: SettlingChoice? = nil, wanted: @escaping @Sendable () -> Bool,
        done: @escaping @Sendable (_ cancelled: Int) -> Void
    ) {
        let call = PendingInboxRead(chosen, wanted)
        calls.withLock { $0.append(call) }
        let answer = { @Sendable (inbox: isolated Inbox) in
            // If the caller no longer waits, nothing is cancelled: files that settle now may have arrived after the
            // call.
            let settling = wanted() ? inbox.catchUp(cancelling: chosen) : 0
            inbox.calls.withLock { $0.removeAll { $0 === call } }
            done(settling + call.claimed)
        }
        async { inbox in
            if inbox.hasBegun || inbox.stopped { answer(inbox) } else { inbox.early.append(answer) }
        }
    }

    private func catchUp(cancelling chosen: SettlingChoice?) -> Int {
        if report.isPassing {
            open()
        } else if let inotify {
            handle(inotify.read())
        } else if settling.isPolled {
            scan()
        }
        let cancelled = chosen.map { chosen in compute { settling.cancel(chosen) + cancelUnsure(chosen) } } ?? 0
        publishReport()
        return cancelled
    }

    /// Cancels the chosen files in `unsure`; returns the number of newly cancelled files.
    private func cancelUnsure(_ chosen: SettlingChoice) -> Int {
        let wanted = unsure.filter { !$0.value.cancelled && chosen.includes($0.value.path) }.keys
        for source in wanted { unsure[source]?.cancelled = true }
        return wanted.count
    }

    /// Whether a pending call to `catchUp` cancels a claimed file that is about to become a job. If so, that call
    /// counts the file as cancelled.
    package nonisolated func cancels(claimed path: String) -> Bool {
        calls.withLock { $0.contains { $0.cancels(claimed: path) } }
    }

    /// Whether a call to `catchUp` waits for its answer.
    var isCalled: Bool { calls.withLock { !$0.isEmpty } }

    /// Counts progress: each checked file, each hand-over and, during a computation, each read of this property. If the
    /// count stops rising, the daemon assumes that a disk does not respond.
    package nonisolated var steps: Int {
        progress.withLock { progress in
            if progress.isComputing { progress.steps += 1 }
            return progress.steps
        }
    }

    func step() { progress.withLock { $0.steps += 1 } }

    /// Runs a computation that does not access any disk but may take long if there are very many files.
    func compute<Value>(_ body: () -> Value) -> Value {
        progress.withLock { $0.isComputing = true }
        defer { progress.withLock { $0.isComputing = false } }
        return body()
    }

    // MARK: - Time

    /// Runs `body` after `interval` (default: PollInterval), unless another call to this method or to `open` comes
    /// first.
    func later(in interval: Duration? = nil, _ body: @escaping @Sendable (isolated Inbox) -> Void) {
        appointment += 1
        let mine = appointment
        afterInterval(interval) { if $0.appointment == mine { body($0) } }
    }

    /// Runs `body` after `interval` (default: PollInterval), unless the inbox stops first.
    func afterInterval(_ interval: Duration? = nil, _ body: @escaping @Sendable (isolated Inbox) -> Void) {
        at(.now() + (interval ?? recipe.intake.pollInterval).dispatch, body)
    }

    private func at(_ time: DispatchTime, _ body: @escaping @Sendable (isolated Inbox) -> Void) {
        queue.asyncAfter(deadline: time) { [weak self] in self?.assumeIsolated { if !$0.stopped { body($0) } } }
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
        // A file is checked only when its quiet time is over; each event restarts the quiet time.
        for key in compute({ settling.due(at: now) }) where settling.contains(key) {
            guard !isCalled else {
                checkLater(now)
                break
            }
            step()
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
        while !isCalled, let path = settling.nextAside() { consider(path, quiet: false, found: true) }
        finishLook()
        checkLater(settling.next(after: now).map { max($0, now + .milliseconds(20)) })
    }

    /// Handles a transient problem of the disk or the machine: the file keeps settling until it can be read, and the
    /// report contains the reason.
    func again(_ path: String, _ error: SystemError, _ status: FileStatus? = nil, cancelled: Bool = false) {
        let reason = "\(Permission.unreadable(path, "file", error)); it is tried again"
        logOnce("\(path): \(reason)", of: path, input: FileSystem.relative(path, to: folder))
        note(path, reason, isStuck: true)
        checkLater(settling.postpone(FileSystem.Key(path), status, at: .now(), cancelled: cancelled))
    }

    /// Updates the report; callable on any queue.
    nonisolated func report(settling: Int) { shared.withLock { $0.settling = settling } }

    func publishReport() {
        shared.withLock {
            $0.settling = settling.count + unsure.count
            $0.ignored = $0.reasons.count
        }
        sink.changed(self)
    }
}
