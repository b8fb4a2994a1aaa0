import CLinux
import ControlService
import DaemonConfiguration
import DaemonInterface
import DaemonRuntime
import Dispatch
import FleetSharing
import Glibc
import JobFlow
import JobLedger
import OperationGraph
import PictureFiles
import PipelineModel
import ServiceProgram
import Synchronization
import SystemCalls
import WorkerPools
import WorkerProtocol

/// Creates and connects the parts of the daemon, and shuts them down.
final class Daemon: Sendable {
    private let places: Places
    private let pool: WorkerPool
    private let owners: Owners
    private let server: ControlServer
    private let service: ControlService
    private let status: ServiceStatus
    private let lock: Descriptor
    private let watchdog: Watchdog
    private let signals = Mutex<[any DispatchSourceSignal]>([])
    private let askedAt = Mutex<DispatchTime?>(nil)

    /// Makes `malloc` keep freed memory. Each job needs a little memory for a short time; returning it to the kernel
    /// each time would cost more than the job's work.
    private static func keepMemory() {
        mallopt(M_TRIM_THRESHOLD, 1 << 20)
        mallopt(M_MMAP_THRESHOLD, 1 << 20)
    }

    /// Creates the folders, then reads and checks everything else before it changes anything.
    init(places: Places) throws {
        self.places = places
        Self.keepMemory()
        let passed: Descriptor?
        do { passed = try PassedSocket.control() } catch {
            throw StartError(status: .configuration, description: error.description)
        }
        guard passed != nil || places.socket.utf8.count <= Socket.longestPath else {
            throw StartError(
                status: .failed,
                description: "\(places.socket) is too long for a socket, whose path has at most "
                    + "\(Socket.longestPath) bytes; use a shorter --root")
        }
        do {
            try places.make()
            lock = try Self.lock(places)
        } catch let error as SystemError {
            throw StartError(
                status: .failed,
                description: "\(error); run as a user who may write there, or use --root DIR with a folder of yours")
        }
        LedgerReserve.give(toStartOf: places)
        guard CrashPause.begin(places) else {
            CrashPause.end(places)
            exit(ExitStatus.done.rawValue)
        }
        ServiceManager.notify("STATUS=reading plugins and configuration")
        let plugins = PluginGenerations(folder: places.pluginCopies, sources: places.plugins)
        let fleet = Coordination.sync { FleetPool { Places.fleetWorker } }
        let (pool, hello, accept) = try LedgerReserve.writing(places) {
            try Self.startPool(with: plugins, within: LoadedConfiguration.settings(places).plugins.timeout, fleet)
        }
        self.pool = pool
        let loaded: LoadedConfiguration
        do throws(StartError) {
            loaded = try LoadedConfiguration.start(places, hello: hello)
        } catch {
            CrashPause.end(places)
            throw error
        }
        accept(true)
        loaded.logShortcomings()
        let ledger = try LedgerReserve.writing(places) {
            let ledger = try LedgerFile.open(places)
            try MovedFolder.follow(places, ledger)
            return ledger
        }
        guard let fetch = Places.fetchWorker else {
            throw StartError(
                status: .failed,
                description: "pipelined-fetch is not beside pipelined in \(Places.programFolder); build or install it")
        }
        let staging = try LedgerReserve.writing(places) { try Staging(places) }
        owners = Coordination.sync {
            Owners(
                loaded, places: places, ledger: ledger, staging: staging,
                workers: Workers(render: pool, fetch: FetchPool(program: fetch), fleet: fleet, plugins: plugins),
                hooks: Hooks(ledger: ledger, places: places) {
                    try ControlService.line($0.event, $0.job, $0.batch, $0.results)
                })
        }
        let service = ControlService(owners, version: Release.version, socket: places.socket)
        server = ControlServer(lookPath: places.lookSocket, passed: passed, service: service)
        let status = ServiceStatus(of: service)
        (self.service, self.status) = (service, status)
        watchdog = Watchdog(try Self.stations(owners.queues, server)) { ServiceManager.notify("WATCHDOG=1") }
        Coordination.sync { owners.delegate = self }
        ledger.connect(follower: self)
    }

    /// The queues and loops that the watchdog checks. All work passes through them. Queues that may block on a disk are
    /// left out.
    private static func stations(_ queues: Queues, _ server: ControlServer) throws -> [Watchdog.Station] {
        [
            try .readyLoop(), .queue("the main queue", .main), .queue("the control socket", server.queue),
            .queue("the supervisor", Coordination.queue),
        ]
            + queues.all.map { queue in
                Watchdog.Station(name: "the queue \(queue.name)") { queue.ask($0) }
            }
    }

    /// Locks the root, because two daemons with the same root would claim each other's files.
    static func lock(_ places: Places) throws -> Descriptor {
        let file = try Descriptor.open(places.lock, O_RDWR | O_CREAT)
        // If the previous daemon was killed while it started a worker, that worker keeps the lock for a moment longer.
        for attempt in 0..<20 {
            if attempt > 0 { usleep(100_000) }
            if clinux_lock(file.number) == 0 { return file }
        }
        throw StartError(
            status: .taken,
            description: "another pipelined runs on \(places.root ?? places.data) already; "
                + "`pipectl\(places.words) status` shows it")
    }

    /// Creates the pool and starts its first worker, which reports the available filters.
    static func startPool(
        with plugins: PluginGenerations, within timeout: Duration, _ fleet: FleetPool? = nil
    ) throws -> (pool: WorkerPool, hello: Hello, accept: @Sendable (Bool) -> Void) {
        guard let program = Places.renderWorker else {
            throw StartError(
                status: .failed,
                description: "pipelined-render is not beside pipelined in \(Places.programFolder); build or install it")
        }
        let pool = Coordination.sync { WorkerPool(program: program, resources: plugins.sources, fleet: fleet) }
        let answer = Answer()
        plugins.trial(in: pool, within: timeout) { answer.give($0) }
        switch answer.wait() {
        case .success(let (hello, accept)): return (pool, hello, accept)
        case .failure(let error): throw StartError(status: .failed, description: "\(error)")
        }
    }

    func run() throws -> Never {
        try LedgerReserve.writing(places) { try owners.begin() }
        try server.begin()
        handleSignals()
        if let interval = ServiceManager.watchdogInterval { watchdog.begin(interval) }
        owners.whenOpen { [self] in
            // Reports readiness on the main queue, after that queue has activated the signal sources. Otherwise, a
            // program that reads the log line could send a signal too early.
            DispatchQueue.main.async { self.notifyReady() }
        }
        dispatchMain()
    }

    private func notifyReady() {
        Log.notice(
            "pipelined \(Release.version) is ready: drop pictures into \(places.inbox); "
                + "`pipectl\(places.words) status` shows them")
        ServiceManager.notify("READY=1")
        Coordination.async { self.owners.statusChanged() }
    }

    /// Maximum time that a stop takes. A stop waits for running work, then for hooks, then for the ledger.
    private var stopTime: Duration {
        let settings = owners.configuration.settings
        return settings.drainTimeout * 2 + settings.cancelGrace + .seconds(30)
    }

    private func handleSignals() {
        for number in [SIGTERM, SIGINT] {
            on(number) { [self] in
                // Ignore a second signal within a second: a program that signals the whole process group often sends it
                // twice.
                let before = askedAt.withLock { $0 }
                if let before, DispatchTime.now() < before + .seconds(1) { return }
                if before != nil {
                    CrashPause.end(places)
                    Log.notice(
                        "second signal: stopping at once; running jobs return to the queue at the next start")
                    exit(0)
                }
                askedAt.withLock { $0 = .now() }
                Log.notice("stopping; a second signal stops at once")
                ServiceManager.notifyStopping(within: stopTime)
                owners.stop { [self] in
                    owners.hooks.stop(within: owners.configuration.settings.drainTimeout) { [self] in
                        server.stop { [self] in
                            CrashPause.end(places)
                            Log.notice("stopped")
                            exit(0)
                        }
                    }
                }
            }
        }
        on(SIGHUP) { [self] in Coordination.async { [owners] in owners.reloads.reload { _ in } } }
    }

    private func on(_ number: Int32, _ handler: @escaping @Sendable () -> Void) {
        signals.withLock { signals in
            signals.append(
                DispatchSource.signal(number, on: Self.signalled) { DispatchQueue.main.async(execute: handler) })
        }
    }

    private static let signalled = DispatchQueue(label: "pipelined.signals")
}

extension Daemon: LedgerFollower {
    func ledgerCommitted() {
        server.tellFollowers()
        owners.hooks.eventsAppended()
        status.changed()
    }
}

extension Daemon: OwnersDelegate {
    func statusChanged() { status.changed() }

    func settingsChanged() { server.adoptSettings() }

    func ledgerChanged() { service.refuseWriting() }

    func answer(_ question: NodeQuestion, done: @escaping CommandRefusal.Done) {
        OwnCall.make(question, at: places.socket, done: done)
    }
}
