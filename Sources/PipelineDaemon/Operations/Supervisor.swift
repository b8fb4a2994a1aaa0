import DaemonRuntime
import Dispatch
import Foundation
import InboxWatching
import OperationGraph
import PipelineModel
import Synchronization
import SystemCalls
import WorkerPools
import WorkerProtocol

/// Schedules and records. It never reads a picture itself: workers do, and answer.
///
/// The window: only so many jobs have operations; the rest wait as rows of the ledger, and follow in the order of their position.
/// It reads the ledger, and waits for no inbox or outbox.
@Coordination
final class Supervisor: IntakeSink {
    /// For what may wait for a disk: each time another queue, and so a thread of its own. A concurrent queue has few threads, and libdispatch
    /// would look each second whether these hang, also when there is nothing to do.
    nonisolated var files: DispatchQueue { DispatchQueue(label: "pipelined.files") }
    /// What `--save` keeps is written one after the other.
    let saving = DispatchQueue(label: "pipelined.saving")
    /// The originals of an inbox are moved one after the other, behind everything else; one that hangs holds up its own.
    let disposals = Mutex<[String: DispatchQueue]>([:])
    /// Jobs that have ended and whose original is about to be moved, by their inbox.
    let leaving = Mutex<[String: [JobRecord]]>([:])
    /// Jobs whose original has been moved, until that is recorded.
    let moved = Mutex<Set<Int>>([])
    /// Jobs whose original can't be moved.
    let stuck = Mutex<[Int: StuckOriginal]>([:])
    /// Jobs whose return has failed or was broken off, by their inbox, until it is known where their originals lie.
    let unsettled = Mutex<[String: Set<Int>]>([:])
    /// The original being moved out of each inbox, and since when.
    let moving = Mutex<[String: Move]>([:])
    /// Moves that take too long, by job, with what was said of each.
    var hanging: [Int: String] = [:]
    let places: Places
    let ledger: Ledger
    let pool: WorkerPool
    let plugins: PluginShelf
    let fetch: FetchPool
    let publisher: Publisher
    let hooks: Hooks
    let staging: Staging
    let claims: ClaimFolders
    let started = Timestamp.now()

    let download: GatedQueue
    let render: GatedQueue
    let publish: GatedQueue
    let announce: GatedQueue
    nonisolated var queues: [GatedQueue] { [download, render, publish, announce] }

    var current: LoadedConfiguration
    /// What the control socket's clients may take, as the configuration has it.
    let clientLimits: Mutex<ControlSettings>
    /// What lists of URLs may take, as the configuration has it.
    let downloadLimits: Mutex<DownloadSettings>
    /// How long a stop waits for running work, and how long for work that ignores a cancel.
    let stopLimits: Mutex<(drain: Duration, grace: Duration)>
    /// Limits set by `pipectl` since the start; they hold over a reload.
    var liveLimits: [String: QueueLimit] = [:]
    /// Those of them that `--save` has kept for the next start.
    var savedLimits: Set<String> = []
    var inboxes: [Inbox] = []
    var window = Window()
    /// How far the batches are of which something is in the window. Those in no batch are together, under nil.
    var batchProgress: [Int?: BatchProgress] = [:]
    var progressWatchers: [ProgressWatcher] = []
    var counts: [JobState: Int] = [:]
    var nextID = 1
    var nextPosition = 1
    var nextBatch = 1
    /// Highest priority not yet loaded, or nil.
    var outside: [Entry: Priority] = [.download: .high, .render: .high]
    /// How many downloads of each host are in the window.
    var turns = HostTurns()
    /// Jobs that have ended since old ones were last forgotten.
    var sinceForgetting = 0
    /// What work waits for: outboxes for room or permission, inboxes and outboxes for their disk, filters for their plugin.
    var shortages: [Resource: Shortage] = [:]
    /// Resources being looked at: a disk that does not answer holds one thread.
    var looking: Set<Resource> = []
    /// Originals with which a filter has crashed or hung, since it last did not.
    var strikes: [String: Set<String>] = [:]
    /// For what has grown too old to be remembered.
    private(set) lazy var sweeps = Appointment { [unowned self] _ in forgetOld(ended: 0) }
    /// For the job that is the first to be tried again.
    private(set) lazy var retries = Appointment { [unowned self] in retryDue(setBack: $0) }
    var knownPlaces: [String: KnownPlace] = [:]
    var watchingForHangs = false
    /// While rows are being changed in bulk, none is taken.
    var fillHolds = 0
    var stopping = false
    /// DrainTimeout has passed: what is not urgent is left for the next start.
    let timeIsUp = Mutex(false)
    var drained: (@Sendable () -> Void)?
    /// No job is left in work; originals may still be on their way.
    var isDrained = false
    var waiters: [Waiter] = []
    /// Jobs that have left the window, and are not yet recorded as what they are.
    var ending: Set<Int> = []
    /// It is looked now and then whether `auto` has become another number.
    var followsProcessors = false
    /// Plugins are being tried.
    var isReloading = false
    /// Who has asked for a reload since that began.
    var reloads: [@Coordination @Sendable (Reloaded) -> Void] = []
    /// Why the latest reload has changed nothing.
    var reloadProblems: [Problem] = []
    /// All inboxes have been watched, or were given up on.
    var isReady = false
    /// Who waits for that.
    var whenWatching: (@Sendable () -> Void)?
    /// Told when something of the status may have changed; set before anything is.
    var tellChange: @Sendable () -> Void = {}
    /// Batches of which something is being announced.
    var announcing: Set<Int> = []
    /// Reads of the ledger to be repeated.
    var unasked = Unasked()

    init(
        places: Places, ledger: Ledger, staging: Staging, pool: WorkerPool, plugins: PluginShelf,
        fetch: FetchPool,
        current: LoadedConfiguration
    ) {
        self.places = places
        self.staging = staging
        claims = ClaimFolders(root: staging.root)
        self.ledger = ledger
        self.pool = pool
        self.plugins = plugins
        self.fetch = fetch
        self.current = current
        hooks = Hooks(ledger: ledger, places: places, shown: Self.shown)
        let settings = current.configuration.settings
        clientLimits = Mutex(settings.control)
        downloadLimits = Mutex(settings.downloads)
        stopLimits = Mutex((settings.drainTimeout, settings.cancelGrace))
        download = GatedQueue("download", limit: settings.download, automatic: { 8 })
        render = GatedQueue("render", limit: settings.render, automatic: ProcessorCount.usable)
        publish = GatedQueue("publish", limit: settings.publish, automatic: { 16 })
        announce = GatedQueue("announce", limit: .count(1), isSerial: true, automatic: { 1 })
        // Neither the first of a burst nor the last one waits for others, nor does a render for a place behind it.
        let awaitsOthers: @Sendable () -> Bool = { [render, publish] in
            let behind = publish.report
            return render.report.running > 0 && behind.running > 0 && behind.running * 2 < behind.effective
        }
        publisher = Publisher(awaitsOthers: awaitsOthers)
        ledger.awaitsOthers(awaitsOthers)
    }

    var settings: Settings { current.configuration.settings }

    /// Opens the inboxes and begins to work. What an earlier run left is put right first.
    nonisolated func begin() throws {
        ledger.problemChanged { [self] in Coordination.async { self.ledgerChanged() } }
        ledger.readFailed { [self] in Coordination.async { self.readLater() } }
        ledger.batchSettled { [self] batch, news in Coordination.async { self.announce(news, of: batch) } }
        try Coordination.sync {
            try recover()
            ledger.othersChanged { [self] consequences in Coordination.async { self.adopt(consequences) } }
            ledger.lookAtBatches()
            for (name, reason) in try ledger.pausedQueues() {
                guard let queue = queues.first(where: { $0.name == name }) else { continue }
                queue.pause(reason: reason)
                Log.notice(
                    "queue \(name) is paused\(reason.map { " (\($0))" } ?? ""), as it was before; "
                        + "`pipectl resume \(name)` lets it go on")
            }
            applyLimits()
            retryDue()
            openInboxes(adopting: true)
            try endReturns()
            try MountTable.watch { [self] in Coordination.async { self.mountsChanged() } }
            fill()
            forgetOld(ended: 0)
        }
    }

    func applyLimits() {
        // Until the daemon is ready, workers beside the first are started for those jobs alone that wait for one.
        pool.set(
            capacity: isReady ? render.report.effective : 1,
            memory: settings.memoryBudget.bytes(of: MemoryRoom.usable()),
            jobsPerWorker: settings.workerJobs, confined: settings.sandbox == .required)
        fetch.set(
            transfersPerWorker: settings.workerJobs, maxSize: settings.downloads.maxSize, grace: settings.cancelGrace,
            confined: settings.sandbox == .required)
        clientLimits.withLock { $0 = settings.control }
        downloadLimits.withLock { $0 = settings.downloads }
        stopLimits.withLock { $0 = (settings.drainTimeout, settings.cancelGrace) }
        download.set(lane: settings.downloads.perHost)
        turns.share = min(max(8, 2 * settings.downloads.perHost), max(settings.downloads.perHost, settings.window / 2))
        ledger.keep(events: settings.control.historyEvents)
        for queue in queues { queue.log(operations: settings.log == .operations) }
        let programs = current.configuration.recipes.compactMap { recipe in recipe.hook.map { (recipe.name, $0) } }
        hooks.set(Dictionary(programs, uniquingKeysWith: { first, _ in first }), timeout: settings.hookTimeout)
    }

    /// Opens the inboxes of the configuration in force; one that succeeds another on the same folder begins when that has stopped.
    func openInboxes(adopting: Bool = false) {
        let old = inboxes
        inboxes = current.configuration.recipes.map { recipe in
            let folder = current.inbox(of: recipe, places)
            let others = current.configuration.recipes.filter { $0.name != recipe.name }
                .map { current.inbox(of: $0, places) }
            return Inbox(
                folder: folder, recipe: recipe, longestPlace: longestPlace(of: recipe, folder),
                excluded: others.filter { FileSystem.lies($0, within: folder) && $0 != folder }, claims: claims,
                sink: self)
        }
        for inbox in inboxes where !old.contains(where: { $0.folder == inbox.folder }) {
            inbox.begin(adopting: adopting)
        }
        for former in old {
            let successor = inboxes.first { $0.folder == former.folder }
            former.stop { remains in successor?.begin(adopting: false, with: remains) }
        }
        holdInboxes()
        // What is mounted now is what is meant.
        knownPlaces = [:]
        learnPlaces()
    }

    /// Bytes of the longest folder path under which an original or a result of a recipe may lie.
    private func longestPlace(of recipe: Recipe, _ inbox: String) -> Int {
        let claimed = "\(inbox)/\(ClaimFolder.name)/\(UUIDName.make())/0000"
        let others = [places.archive, places.failed, places.cancelled].map { "\($0)/\(recipe.name)" }
        // Numbers and suffixes come behind a name.
        return 64 + ([claimed, current.outbox(of: recipe, places)] + others).reduce(0) { max($0, $1.utf8.count) }
    }

    // MARK: - The window

    func start(_ record: JobRecord) {
        let id = record.id
        let subject = LogSubject(record)
        let plan = record.plan
        // With an intent everything is made, and only to be published.
        let pictures = record.intent == nil ? plan.segments[record.segment] : []
        // Behind a download there is always a render, which hands on what has come, though it may have nothing to make.
        guard !pictures.isEmpty || record.needsDownload || record.intent != nil else { return arrive(record) }
        let download = downloadOperation(record)
        let render = RenderOperation(
            RenderOperation.Work(
                name: record.path, subject: subject, pictures: pictures,
                staging: pictures.map { staging.path(of: record, $0) },
                source: download == nil ? ImageHandle(source: record.source) : nil, size: record.size(of: pictures),
                inbox: record.origin == .spooled ? nil : record.order.inbox, earlier: record.staged(plan),
                limits: RenderTask.Limits(settings, onTruncated: record.order.onTruncated), suspect: record.crashes > 0),
            pool: pool, files: files, claims: claims,
            held: { [self] reason in Coordination.async { self.hold(id, reason) } },
            lost: { [self] failure, account in Coordination.async { self.lost(id, failure, account) } })
        let isLast = record.segment == plan.segments.count - 1
        let job =
            isLast
            ? ending(record, download, render)
            : Job(record: record, download: download, render: render, publish: nil, announce: nil)
        window[id] = job
        entered(job)
        if let download {
            if let lane = job.lane { turns.enter(lane) }
            render.follow(download)
            download.observe { [self] _, state in Coordination.async { self.downloading(job, state) } }
        }
        render.observe { [self] _, state in Coordination.async { self.rendering(job, state) } }
        job.publish?.observe { [self] _, state in Coordination.async { self.publishing(job, state) } }
        if let download {
            self.download.add(download, of: OperationSubject.job(subject), at: job.place, lane: record.host ?? "")
        }
        self.render.add(render, of: OperationSubject.job(subject, segment: record.segment), at: job.place)
        if let publish = job.publish { self.publish.add(publish, of: OperationSubject.job(subject), at: job.place) }
        if let announce = job.announce { self.announce.add(announce, of: OperationSubject.job(subject)) }
    }

    /// A job that is published when it is rendered.
    private func ending(_ record: JobRecord, _ download: DownloadOperation?, _ render: RenderOperation) -> Job {
        let id = record.id
        let publish = PublishOperation(
            order: record.order, path: record.path, resuming: record.intent, publisher: publisher, files: files,
            steps: PublishOperation.Steps(
                intend: { [self] intent, done in Coordination.async { self.intend(id, intent, done) } },
                conclude: { [self] published, done in Coordination.async { self.conclude(id, published, done) } }))
        let announce = AnnounceOperation { [ledger] done in
            // What the ledger has been given it writes in this order; a wait for each commit would hold up the next.
            ledger.append(LoggedEvent(kind: "published", job: id, state: .done))
            done()
        }
        publish.follow(render)
        announce.follow(publish)
        return Job(record: record, download: download, render: render, publish: publish, announce: announce)
    }

    // MARK: - What operations report

    private func rendering(_ job: Job, _ state: OperationState) {
        if state.isFinal { answered(job) }
        switch state {
        case .executing:
            job.begin("RenderOperation", "render")
            guard job.record.state == .queued else { return hold(job.record.id, nil) }
            // Beyond a barrier it goes on.
            if job.record.segment == 0 || job.record.started == nil { job.record.started = Timestamp.now() }
            move(job, to: job.cancelRequested ? .cancelling : .running)
            watchForHangs()
        case .finished:
            if job.record.segment == 0 { job.tell(job.render.header) }
            job.end("RenderOperation", state, job.render.detail, job.render.account)
            showHeld(job)
            settleCancelling(job)
            if job.publish == nil { cross(job) }
        case .failed:
            job.tell(job.render.header)
            job.end("RenderOperation", job.render.failure, job.render.account)
            job.announce?.cancel()
            job.publish?.cancel()
            if job.cancelRequested || job.returning { return settleCancelling(job) }
            fail(job, job.render.failure ?? JobFailure("rendering failed"))
        case .cancelled:
            job.end("RenderOperation", state, nil, job.render.account)
            settleCancelling(job)
        case .pending, .ready:
            break
        }
    }

    /// Its worker was lost, and it is tried once more in another.
    private func lost(_ id: Int, _ failure: JobFailure, _ account: JobStory.Account) {
        guard let job = window[id], !job.ended else { return }
        job.end("RenderOperation", failure, account)
        job.begin("RenderOperation", "render")
    }

    private func publishing(_ job: Job, _ state: OperationState) {
        if state.isFinal { answered(job) }
        switch state {
        case .executing:
            job.begin("PublishOperation", "publish")
            job.publishing = job.record.intent != nil
            hold(job.record.id, nil)
        case .failed:
            job.publishing = false
            job.end("PublishOperation", job.publish?.failure)
            if job.publish?.isLost == true { job.record.intent = nil }
            fail(job, job.publish?.failure ?? JobFailure("publishing failed"))
        case .cancelled:
            job.end("PublishOperation", state)
            if let failure = job.refusal { fail(job, failure) } else { settleCancelling(job) }
        case .pending, .ready, .finished: break
        }
    }

    /// The publish intent: from here on the job ends `done`, unless it has been cancelled before.
    private func intend(_ id: Int, _ intent: PublishIntent, _ done: @escaping @Sendable (Bool) -> Void) {
        guard let job = window[id], !job.cancelRequested, !job.returning else { return done(false) }
        // The first, or one that was recorded before a name was taken by somebody else.
        let former = job.record.intent
        job.publishing = true
        job.record.intent = intent
        ledger.record(intent: intent, of: id) {
            done(true)
        } refused: {
            Coordination.async {
                job.publishing = former != nil
                job.record.intent = former
                job.refusal = .unrecordedIntent
                done(false)
            }
        }
    }

    private func conclude(_ id: Int, _ published: [Publisher.Published], _ done: @escaping @Sendable () -> Void) {
        guard let job = window[id] else { return done() }
        job.record.outputs = published.map(\.path)
        job.record.intent = nil
        let pictures = published.compactMap(\.picture)
        if !pictures.isEmpty { job.record.story?.after = pictures }
        job.end("PublishOperation", .finished)
        if published.count < job.record.plan.results.count {
            job.record.reason = "not everything was published: a name is taken, and Conflict=skip"
        }
        finish(job, .done, done: done)
        Log.notice(Self.line(job.record, places), of: LogSubject(job.record))
    }

    /// A job that is to stop has stopped once none of its operations works any more.
    func settleCancelling(_ job: Job) {
        guard job.cancelRequested || job.returning || job.waits != nil, !job.ended, !job.publishing, job.isStill
        else { return }
        // An intent speaks of what is staged: the next try publishes it, or the disposal takes it back.
        guard let image = job.render.image, job.record.intent == nil else { return stopped(job) }
        guard !job.discarding else { return }
        job.discarding = true
        files.async { [self] in
            publisher.discard(image.staged)
            Coordination.async { self.stopped(job) }
        }
    }

    private func stopped(_ job: Job) {
        guard !job.ended else { return }
        guard job.cancelRequested else { return settleWaiting(job) }
        finish(job, .cancelled)
        let record = job.record
        Log.notice("\(record.order.recipe): \(record.path) cancelled (job \(record.id))", of: LogSubject(record))
    }

    /// Back to where it was before it began: to the queue, or to what waits.
    private func settleWaiting(_ job: Job) {
        // When the daemon stops, it is for the next start to see whether there is room.
        if let reason = job.waits, !job.returning { return wait(job, .place, reason) }
        job.record.started = nil
        job.record.reason = nil
        finish(job, .queued)
    }

    /// The job leaves the window, and waits as a row.
    func wait(_ job: Job, _ hold: JobRecord.Hold, _ reason: String) {
        job.record.started = nil
        job.record.reason = reason
        job.record.hold = hold
        finish(job, .waiting)
    }

    // MARK: - States

    /// A job in work waits, or goes on when there is no reason any more.
    func hold(_ id: Int, _ reason: String?) {
        guard let job = window[id] else { return }
        switch (job.record.state, reason) {
        case (.running, .some), (.waiting, .some): move(job, to: .waiting, reason: reason)
        case (.waiting, nil): move(job, to: .running)
        default: break
        }
    }

    /// What is rendered, and not yet being published, waits behind a pause of that queue; so does what is downloaded, and not yet rendered.
    func showHeld(_ job: Job) {
        let isRendered = job.render.state == .finished
        guard isRendered || job.download?.state == .finished,
            (isRendered ? job.publish?.hasBegun : job.render.hasBegun) == false
        else { return }
        let report = isRendered ? publish.report : render.report
        hold(job.record.id, report.paused ? report.pauseText : nil)
    }

    func move(_ job: Job, to state: JobState, reason: String? = nil) {
        counts[job.record.state, default: 0] -= 1
        counts[state, default: 0] += 1
        job.record.state = state
        job.record.reason = reason
        ledger.record(job.record)
    }

    /// The job leaves the window in its last state, `queued` when the daemon stops, or `waiting`.
    func finish(_ job: Job, _ state: JobState, done: @escaping @Sendable () -> Void = {}) {
        job.ended = true
        window[job.record.id] = nil
        // One that goes back without having begun is a row as before.
        if state == .queued, job.record.state == .queued {
            left(job.record)
            return checkDrained()
        }
        // Beyond a barrier it is still the same try.
        let goesOn = state == .waiting && job.record.hold == .barrier
        job.record.tries += goesOn ? max(0, job.tries - 1) : job.tries
        if state == .done {
            (job.record.error, job.record.advice, job.record.failure) = (nil, nil, nil)
            acquit(job.record.order)
        }
        counts[job.record.state, default: 0] -= 1
        counts[state, default: 0] += 1
        job.record.state = state
        job.record.finished = state.isFinal ? Timestamp.now() : nil
        let record = job.record
        ending.insert(record.id)
        ledger.record(record) { [self] in
            done()
            // Once this is recorded nobody asks any more what has been published of it.
            // An intent keeps them.
            if record.intent == nil, state == .failed || (state == .waiting && !goesOn), let image = job.render.image {
                files.async { self.publisher.discard(image.staged) }
            }
            Coordination.async { [self] in
                ending.remove(record.id)
                left(record)
                fill(arrived: nil)
                if state.isFinal {
                    stopped(record.id)
                    dispose(record)
                    forgetOld(ended: 1)
                }
                checkDrained()
            }
        }
        fill(arrived: nil)
    }

    nonisolated static func line(_ record: JobRecord, _ places: Places) -> String {
        let time = (record.finished ?? 0) - (record.started ?? 0)
        let results = record.outputs.map {
            $0.hasPrefix(places.data + "/") ? String($0.dropFirst(places.data.count + 1)) : $0
        }
        // Foundation's formats cost more than all the rest of the line, and there is one a job.
        let hundredths = Int((max(0, time) * 100).rounded())
        let took = "\(hundredths / 100).\(hundredths / 10 % 10)\(hundredths % 10) s"
        return
            "\(record.order.recipe): \(record.path) → \(results.isEmpty ? "nothing" : results.joined(separator: ", ")) (\(took))"
    }
}
