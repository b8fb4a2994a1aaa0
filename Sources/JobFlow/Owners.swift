package import DaemonConfiguration
package import DaemonInterface
package import DaemonRuntime
package import Dispatch
import FleetSharing
import InboxWatching
package import JobLedger
package import JobModel
import OperationGraph
package import PictureFiles
import PipelineModel
import Previewing
import ServiceProgram
import SystemCalls
import WorkerPools
package import WorkerProtocol

/// Receives reports and questions from the owners of the daemon's state.
@Coordination
package protocol OwnersDelegate: AnyObject {
    /// Something that `status` shows may have changed.
    func statusChanged()
    /// A reload has put other settings into force.
    func settingsChanged()
    /// The ledger has become unwritable, or can be written again.
    func ledgerChanged()
    /// Answers another node's question in the same way as a client's question.
    func answer(_ question: NodeQuestion, done: @escaping CommandRefusal.Done)
}

/// Creates and connects the owners of the daemon's state. Each piece of state has one owner, and only its owner changes
/// it. The initialiser passes each owner the other owners that it needs; `connect` sets the delegates. Calls from
/// clients see all owners as one object, the `DaemonInterface`. The folder `Control` implements that interface.
@Coordination
package final class Owners: ReadsDelegate {
    nonisolated let started = Timestamp.now()
    nonisolated let ledger: Ledger
    package nonisolated let configuration: ConfigurationInForce
    nonisolated let pool: WorkerPool
    nonisolated let fetch: FetchPool
    package nonisolated let hooks: Hooks
    nonisolated let pictures: JobPictures
    package nonisolated let queues: Queues
    nonisolated let inboxes: Inboxes
    package nonisolated let reloads: Reloads
    let ownRecipes: OwnRecipes
    nonisolated let jobs: JobQueue
    nonisolated let waiters: Waiters
    nonisolated let originals: OriginalMover
    nonisolated let intake: JobIntake
    nonisolated let shortages: Shortages
    nonisolated let runner: JobRunner
    nonisolated let changes: JobChanges
    nonisolated let revivals: RetryRequests
    nonisolated let trials: ChainTrials
    nonisolated let previews: Previews
    nonisolated let fleet: FleetMember
    nonisolated let doneJobs: DoneJobs
    nonisolated let commands: Commands
    nonisolated let shutdown: Shutdown
    nonisolated let keeping: Keeping
    private let recovery: Recovery
    /// The note about a lost ledger, until a user removes it.
    private var ledgerNote: String?
    package weak var delegate: (any OwnersDelegate)? { didSet { commands.delegate = delegate } }

    package init(
        _ loaded: LoadedConfiguration, places: Places, ledger: Ledger, staging: Staging, workers: Workers, hooks: Hooks
    ) {
        (self.ledger, pool, fetch) = (ledger, workers.render, workers.fetch)
        configuration = ConfigurationInForce(loaded, places)
        self.hooks = hooks
        queues = Queues(loaded.configuration.settings, ledger, savedIn: places.saved)
        let publisher = Publisher(awaitsOthers: queues.awaitsOthers)
        let claims = ClaimFolders(root: staging.root)
        inboxes = Inboxes(configuration, claims)
        reloads = Reloads(configuration, workers.plugins, in: pool, inboxes)
        ownRecipes = OwnRecipes(configuration, reloads)
        jobs = JobQueue(ledger, configuration, queues)
        let originalPlaces = OriginalPlaces(ledger: ledger, places: places, claims: claims)
        originals = OriginalMover(originalPlaces, claims, publisher, staging)
        waiters = Waiters(ledger, jobs, inboxes, originals)
        keeping = Keeping(ledger, configuration, jobs)
        pictures = JobPictures(originals: originalPlaces)
        recovery = Recovery(
            ledger: ledger, configuration: configuration, publisher: publisher, staging: staging, originals: originals)
        intake = JobIntake(ledger, configuration, claims, inboxes, jobs, recovery)
        shortages = Shortages(configuration, ledger, staging, inboxes, reloads)
        let operations = JobOperations(
            ledger, configuration, queues, workers,
            JobOperations.Files(staging: staging, claims: claims, publisher: publisher), jobs.meters)
        runner = JobRunner(ledger, configuration, queues, jobs, operations, shortages)
        changes = JobChanges(ledger, runner, jobs, inboxes, waiters)
        revivals = RetryRequests(ledger, configuration, jobs, originals)
        trials = ChainTrials(pool, configuration)
        previews = Previews(pool, configuration, queues.render, pictures)
        fleet = FleetMember(configuration, workers.fleet, pool, fetch, queues.render, downloads: queues.download)
        doneJobs = DoneJobs(
            ledger, configuration, jobs, originals, revivals, DoneCheck(originals: originalPlaces))
        commands = Commands(ledger, queues, jobs, changes, inboxes, fleet)
        shutdown = Shutdown(configuration, ledger, queues, runner, jobs)
        connect()
    }

    private func connect() {
        jobs.reads.delegate = self
        originals.delegate = self
        fleet.delegate = self
        queues.events = self
        runner.events = self
        shutdown.delegate = self
        intake.events = self
        reloads.events = self
        keeping.events = self
    }

    // MARK: - Beginning and stopping

    /// Repairs the unfinished work of an earlier run, then opens the inboxes and begins to work.
    package nonisolated func begin() throws {
        let sweep = try Coordination.sync {
            knowFolders()
            ledgerNote = LedgerFile.note(configuration.places)
            jobs.begin(after: try ledger.highest())
            try recovery.recover()
            return try recovery.sweepStaging()
        }
        sweep.wait()
        try Coordination.sync {
            jobs.begin(with: try ledger.counts())
            if jobs.counts[.queued] > 0 { Log.notice("in the queue from before: \(jobs.counts[.queued])") }
            ledger.connect(self)
            ledger.lookAtBatches()
            try queues.begin()
            applySettings()
            shortages.hours.look()
            jobs.queueDue()
            inboxes.open(adopting: true, into: intake)
            shortages.placesChanged()
            for outbox in sweep.unswept({ [shortages] in shortages.swept($0) }) { shortages.begin(unswept: outbox) }
            shortages.encodersChanged()
            try originals.begin()
            try MountTable.watch { [shortages] in Coordination.async { shortages.mountsChanged() } }
            fleet.adopt()
            jobs.fill()
            try keeping.begin()
            previews.begin()
        }
    }

    /// Calls `done` when each inbox is watched, has reported why it can't be watched, or has not answered in time.
    package nonisolated func whenOpen(_ done: @escaping @Sendable () -> Void) {
        Coordination.async { self.inboxes.whenOpen(done) }
    }

    package nonisolated func stop(_ done: @escaping @Sendable () -> Void) {
        Coordination.async { [self] in
            previews.stop()
            shutdown.begin(done)
            statusChanged()
        }
    }

    // MARK: - Changes

    /// Passes the settings in force to the objects that use them.
    private func applySettings() {
        let settings = configuration.settings
        pool.set(
            capacity: queues.render.report.effective,
            memory: settings.memoryBudget.bytes(of: MemoryRoom.usable()),
            jobsPerWorker: settings.workerJobs, confined: settings.sandbox == .required,
            decoders: settings.decoders, files: configuration.now.files)
        fetch.set(
            transfersPerWorker: settings.workerJobs, maxSize: settings.downloads.maxSize, grace: settings.cancelGrace,
            confined: settings.sandbox == .required)
        queues.download.set(lane: settings.downloads.perHost)
        jobs.adopt(settings)
        ledger.keep(events: settings.control.historyEvents)
        for queue in queues.all { queue.log(operations: settings.log == .operations) }
        let orders = configuration.recipes.compactMap { recipe in
            recipe.hook.map { (recipe.name, Hooks.Order(program: $0, occasions: recipe.hookOn)) }
        }
        hooks.set(
            Dictionary(orders, uniquingKeysWith: { first, _ in first }), timeout: settings.hookTimeout,
            keeping: Set(configuration.now.configuration.held.map(\.recipe.name)))
    }

    /// Registers the folders that may be on separate disks.
    private func knowFolders() {
        let places = configuration.places
        FileLanes.know(
            [places.inbox, places.outbox, places.archive, places.failed, places.cancelled, places.state]
                + configuration.folders)
    }

    private func adoptConfiguration() {
        knowFolders()
        FileLanes.work(on: configuration.places.state).async { [configuration] in
            let note = LedgerFile.note(configuration.places)
            Coordination.async { [self] in
                ledgerNote = note
                statusChanged()
            }
        }
        queues.adopt(configuration.settings)
        applySettings()
        inboxes.open(into: intake)
        shortages.placesChanged()
        originals.disposeBacklog()
        runner.crashes.forget()
        shortages.filtersReplaced()
        shortages.encodersChanged()
        shortages.look()
        shortages.hours.look()
        keeping.adopt()
        previews.adopt()
        fleet.adopt()
        delegate?.settingsChanged()
        ledger.append(LoggedEvent(kind: "settings", text: "reloaded"))
        Log.notice("configuration and plugins were read again")
        jobs.fill()
    }

    /// Called when the ledger has become unwritable, or can be written again.
    private func ledgerChanged() {
        for queue in [queues.download, queues.render] { queue.hold(ledger.problem != nil) }
        shortages.holdInboxes()
        if ledger.problem == nil { keeping.ledgerRecovered() }
        delegate?.ledgerChanged()
        shutdown.check()
    }

    func readAgain(_ missed: RepeatedReads.Missed) {
        if missed.backlog { originals.disposeBacklog() }
        if !missed.ended.isEmpty { waiters.lookUp(missed.ended) }
        jobs.fill()
        waiters.lookUp()
    }

    /// Messages about all problems that keep the daemon from its work.
    var problems: [String] {
        let ledger = [
            ledger.unwritableReason.map { "\($0); nothing is taken until it can" }, ledger.unreadableReason,
        ]
        let others = [ledgerNote, keeping.ages.doubt, reloads.problem, fleet.problem].compactMap(\.self)
        return ledger.compactMap(\.self) + configuration.now.shortcomings + shortages.problems + originals.delays()
            + others + hooks.problems + keeping.problems + silentDisks
    }

    /// Messages about disks that do not answer the requests of clients.
    private var silentDisks: [String] {
        FileLanes.silentDisks(since: DispatchTime.now() - configuration.settings.hangTimeout.dispatch).map {
            "the disk at \($0) does not answer: nobody can look at pictures and originals there"
        }
    }
}

extension Owners: OriginalMoverDelegate {
    package var hangTimeout: Duration { configuration.settings.hangTimeout }

    package func originalsArrived(of jobs: [JobRecord]) {
        waiters.ended(jobs)
        keeping.came()
    }

    package func returnsUndone(of jobs: Set<Int>) { waiters.lookUp(jobs) }

    package func delaysChanged() { waiters.check() }

    package func backlogUnread() { jobs.reads.missedBacklog() }

    package func whenOpened(_ folders: Set<String>, on line: DispatchQueue, _ body: @escaping @Sendable () -> Void) {
        inboxes.whenOpened(folders, on: line, body)
    }
}

extension Owners: LedgerDelegate {
    package nonisolated func batchChanged(_ batch: Int, _ news: BatchNews) {
        Coordination.async { self.runner.announce(news, of: batch) }
    }

    package nonisolated func ledgerProblemChanged() { Coordination.async { self.ledgerChanged() } }

    package nonisolated func othersChanged(_ consequences: Consequences) {
        Coordination.async { self.changes.adopt(consequences) }
    }

    package nonisolated var awaitsOthers: Bool { queues.awaitsOthers() }

    package nonisolated func readFailed() { Coordination.async { self.jobs.reads.later() } }
}

extension Owners: FleetMemberDelegate {
    package func fleetChanged() {
        commands.checkDrains()
        statusChanged()
    }

    package func execute(_ command: NodeCommand, by peer: String, done: @escaping CommandRefusal.Done) {
        commands.execute(command, by: peer, done: done)
    }
}

extension Owners: ShutdownDelegate {
    func stopIntake() { inboxes.stop() }

    func leaveOriginals() { originals.leaveRest() }

    func stopWorkers(isRecorded: Bool, done: @escaping @Coordination @Sendable () -> Void) {
        guard isRecorded else { return stopWorkers(done) }
        ledger.whenDurable { [self] in
            Coordination.async { [self] in
                stopWorkers { [originals] in originals.whenDisposed { Coordination.async(done) } }
            }
        }
    }

    private func stopWorkers(_ done: @escaping @Coordination @Sendable () -> Void) {
        fleet.stop { [pool, fetch] in
            pool.stop { fetch.stop { Coordination.async(done) } }
        }
    }
}

extension Owners: DaemonEvents {
    package func jobEnded(_ record: JobRecord) {
        waiters.stopped(record.id)
        originals.dispose(record)
        keeping.ended(1)
    }

    package func jobsEndedAsRows(_ count: Int) {
        originals.disposeBacklog()
        keeping.ended(count)
    }

    package func jobsRefused() { waiters.check() }

    package func batchEnded(_ batch: Int) { waiters.changed(batch: batch) }

    package func limitsChanged() {
        applySettings()
        fleet.look()
        commands.checkDrains()
    }

    package func queuesPaused() {
        runner.showPauses()
        fleet.look()
    }

    package func queuesResumed() {
        fleet.look()
        runner.showPauses()
        jobs.progress.resumed()
        jobs.fill()
    }

    package func jobRested() {
        shutdown.check()
        commands.checkDrains()
    }

    package func inboxChanged() {
        pool.expect(inboxes.settling)
        waiters.check()
        inboxes.lookWhetherOpen()
        statusChanged()
    }

    package func configurationAdopted() { adoptConfiguration() }

    package func statusChanged() { delegate?.statusChanged() }
}
