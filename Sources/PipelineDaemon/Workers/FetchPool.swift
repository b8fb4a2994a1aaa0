import DaemonRuntime
import Dispatch
import Glibc
import WorkerProtocol

/// The fetch worker: one process for all transfers, started when the first one comes. When it ends in the middle, its transfers are tried
/// once more in a new one, each alone, so that the one that took it down is known.
///
/// One that has done its share, or whose resolver's files have been replaced, finishes what it has while the next one begins.
@Coordination
final class FetchPool {
    private static let startTimeout = Duration.seconds(15)
    /// All transfers would be lost with the process: its word is awaited for longer than CancelGrace.
    private static let leastGrace = Duration.seconds(2)
    /// libcurl, TLS, and threads that look up names.
    private static let memory: Int64 = 2 << 30

    /// Creates the files to download into, one after the other, so that servers are asked in the order in which
    /// downloads begin. All files lie on one disk.
    let opening = DispatchQueue(label: "pipelined.fetch.files")
    private let program: String
    private var workers: [FetchWorker] = []
    private var waiting: [FetchTask] = []
    private var nextID = 1
    private var transfersPerWorker = 500
    private var maxSize = Int64.max
    private var grace = Duration.seconds(2)
    private var mustBeConfined = false
    private var failedStarts = 0
    private var restarting = false
    private var stopped = false
    private var emptied: (@Sendable () -> Void)?
    private let children: any DispatchSourceSignal
    /// How much longer than `FetchLimits` allow a worker may be silent about a transfer: the machine may be slow.
    private let patience: Duration
    private var listens = false

    init(program: String, patience: Duration = .seconds(30)) {
        self.program = program
        self.patience = patience
        children = DispatchSource.makeSignalSource(signal: SIGCHLD, queue: Coordination.queue)
        children.setEventHandler { [weak self] in Coordination.assumeIsolated { self?.endStopped() } }
        children.activate()
    }

    private func endStopped() {
        for worker in workers { worker.endIfStopped() }
    }

    /// How many transfers a worker carries before it is replaced, the most that it may write to a file, how long it may take to stop one, and
    /// whether one that is not confined in every way gets any.
    nonisolated func set(transfersPerWorker: Int, maxSize: Int64, grace: Duration, confined: Bool) {
        Coordination.async { [self] in
            self.transfersPerWorker = transfersPerWorker
            self.maxSize = maxSize
            self.grace = grace
            mustBeConfined = confined
            for worker in workers { worker.limitFiles(to: maxSize) }
        }
    }

    /// What keeps the worker from starting, if so.
    nonisolated func report(_ reply: @escaping @Sendable (_ problem: String?) -> Void) {
        Coordination.async { [self] in
            reply(
                failedStarts > 2 ? "the fetch worker ends at its start (\(failedStarts) in a row); see the log" : nil)
        }
    }

    nonisolated func run(_ task: FetchTask) {
        Coordination.async { [self] in
            if task.cancelled || stopped { return task.done(.failure(.cancelled)) }
            waiting.append(task)
            balance()
        }
    }

    /// Asks for the transfer to stop, and ends the worker when it does not answer; what else it had begins again.
    nonisolated func cancel(_ task: FetchTask) {
        Coordination.async { [self] in
            task.cancelled = true
            if let index = waiting.firstIndex(where: { $0 === task }) {
                waiting.remove(at: index)
                return task.done(.failure(.cancelled))
            }
            guard let (worker, id) = place(of: task) else { return }
            worker.send(FetchOrder.cancel(id))
            Coordination.after(max(grace, Self.leastGrace)) {
                guard worker.tasks[id] === task else { return }
                Log.failure("the fetch worker does not answer, and is replaced")
                worker.terminate()
            }
        }
    }

    /// Ends all transfers; `done` when the last worker is gone.
    nonisolated func stop(_ done: @escaping @Sendable () -> Void) {
        Coordination.async { [self] in
            stopped = true
            emptied = done
            for task in waiting { task.done(.failure(.cancelled)) }
            waiting = []
            for worker in workers { worker.leave() }
            if workers.isEmpty { done() }
        }
    }

    // MARK: - In work

    private func place(of task: FetchTask) -> (FetchWorker, Int)? {
        for worker in workers {
            if let id = worker.tasks.first(where: { $0.value === task })?.key { return (worker, id) }
        }
        return nil
    }

    /// Gives what waits to the worker, and starts one if there is none.
    private func balance() {
        guard !stopped, !waiting.isEmpty, !restarting else { return }
        dismissOutdated()
        guard let worker = workers.first(where: { !$0.isLeaving }) else { return start() }
        guard worker.isReady else { return }
        while let task = waiting.first, mayBegin(task), !worker.isLeaving {
            begin(waiting.removeFirst(), on: worker)
        }
        if worker.isLeaving { balance() }
    }

    /// One that has lost a worker is carried alone.
    private func mayBegin(_ task: FetchTask) -> Bool {
        workers.allSatisfy { $0.tasks.values.allSatisfy { task.losses == 0 && $0.losses == 0 } }
    }

    private func dismissOutdated() {
        for worker in workers where !worker.isLeaving && worker.isOutdated { dismiss(worker) }
    }

    private func dismiss(_ worker: FetchWorker) {
        worker.isLeaving = true
        if worker.tasks.isEmpty { worker.leave() }
    }

    private func begin(_ task: FetchTask, on worker: FetchWorker) {
        let id = nextID
        nextID += 1
        worker.tasks[id] = task
        worker.begun += 1
        (task.heard, task.isSilent) = (.now(), false)
        listen()
        worker.send(
            FetchOrder.fetch(FetchRequest(id: id, url: task.url, resume: task.resume, limits: task.limits)),
            descriptors: [task.target])
        if worker.begun >= transfersPerWorker { dismiss(worker) }
    }

    /// While transfers run, looks for those about which a worker has fallen silent.
    private func listen() {
        let next = workers.flatMap { $0.tasks.values.map(silent) }.min()
        guard !listens, let next else { return }
        listens = true
        Coordination.at(max(next, .now() + .milliseconds(100))) { [self] in
            listens = false
            for worker in workers where !worker.killed { endIfSilent(worker) }
            listen()
        }
    }

    /// When the silence about a transfer becomes too long.
    private func silent(_ task: FetchTask) -> DispatchTime {
        task.heard + (task.limits.longestSilence + patience).dispatch
    }

    private func endIfSilent(_ worker: FetchWorker) {
        let now = DispatchTime.now()
        let mute = worker.tasks.values.filter { !$0.cancelled && silent($0) <= now }
        guard !mute.isEmpty else { return }
        for task in mute {
            task.losses += 1
            task.isSilent = true
        }
        Log.failure("the fetch worker says nothing of \(mute.count) downloads under way, and is replaced")
        worker.terminate()
    }

    private func start() {
        do {
            let worker = try FetchWorker(program: program, pool: self)
            worker.limitFiles(to: maxSize)
            worker.limitMemory(to: Self.memory)
            workers.append(worker)
            Coordination.after(Self.startTimeout) { [weak worker] in
                if let worker, !worker.isReady { worker.terminate() }
            }
        } catch {
            Log.failure("can't start the fetch worker: \(error)")
            startFailed()
        }
    }

    /// Another attempt after a pause that grows, so that a worker that can't start does not keep the machine busy.
    private func startFailed() {
        failedStarts += 1
        guard !restarting else { return }
        restarting = true
        Coordination.after(.seconds(min(30, failedStarts))) { [self] in
            restarting = false
            balance()
        }
    }

    // MARK: - What the worker says

    func received(_ message: FetchMessage, from worker: FetchWorker) {
        switch message {
        case .hello(_, let missing):
            guard missing.isEmpty || !mustBeConfined else {
                Log.failure(
                    "the fetch worker is not confined, which Sandbox=required asks for: \(missing.joined(separator: ", "))"
                )
                dismiss(worker)
                return startFailed()
            }
            worker.isReady = true
            balance()
        case .progress(let id, let received, let total):
            worker.tasks[id]?.heard = .now()
            worker.tasks[id]?.progress(received, total)
        case .done(let id, let file): finish(id, of: worker, .success(file))
        case .failed(let id, let failure): finish(id, of: worker, .failure(.transfer(failure)))
        case .cancelled(let id): finish(id, of: worker, .failure(.cancelled))
        }
    }

    private func finish(_ id: Int, of worker: FetchWorker, _ result: Result<FetchedFile, FetchTask.Failure>) {
        guard let task = worker.tasks.removeValue(forKey: id) else { return }
        failedStarts = 0
        task.done(task.cancelled ? .failure(.cancelled) : result)
        if worker.isLeaving, worker.tasks.isEmpty { worker.leave() }
        balance()
    }

    func ended(_ worker: FetchWorker, _ end: WorkerEnd) {
        workers.removeAll { $0 === worker }
        let lost = worker.tasks.sorted { $0.key < $1.key }.map(\.value)
        worker.tasks = [:]
        if !worker.isReady, !worker.isLeaving, !stopped {
            Log.failure("a fetch worker \(end) before it said hello")
            startFailed()
        } else if !worker.killed, !lost.isEmpty, !stopped {
            Log.failure("the fetch worker \(end) with \(lost.count) downloads under way, which begin again")
        }
        let again = lost.filter { task in
            if task.cancelled || stopped {
                task.done(.failure(.cancelled))
                return false
            }
            // A silent transfer has been counted already; the others of a worker that we killed are not to blame.
            if !worker.killed { task.losses += 1 }
            // It was alone, and whoever took one worker over would get another.
            let isCaught = end.isByConfinement && lost.count == 1
            guard task.losses > 1 || isCaught else { return true }
            let silence = FetchTask.Failure.silent(task.limits.longestSilence + patience)
            task.done(.failure(end.isByConfinement ? .confined : task.isSilent ? silence : .workerLost(end)))
            return false
        }
        waiting = again + waiting
        if stopped, workers.isEmpty { emptied?() }
        balance()
    }
}
