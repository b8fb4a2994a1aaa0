package import DaemonRuntime
package import Dispatch
import PipelineModel
import ServiceProgram
import WorkerProtocol

/// Runs all downloads as transfers in one fetch worker, which the pool starts for the first transfer. If the worker
/// dies, the pool retries its transfers once in a new worker, one at a time, to find the transfer that kills workers.
///
/// The pool replaces a worker after a set number of transfers, or when the resolver's files have been replaced. The old
/// worker finishes its transfers while the next worker starts.
@Coordination
package final class FetchPool {
    private static let startTimeout = Duration.seconds(15)
    /// Minimum time that the worker gets to stop a cancelled transfer, even if CancelGrace is shorter, because killing
    /// the worker interrupts its other transfers.
    private static let leastGrace = Duration.seconds(2)
    /// Memory limit of a worker, in bytes: enough for libcurl, TLS and the resolver threads.
    private static let memory: Int64 = 2 << 30

    /// Queue on which target files are created, one after another, so that requests reach the servers in the order in
    /// which downloads start. One queue suffices, because all target files are on one disk.
    package nonisolated let opening = DispatchQueue(label: "pipelined.fetch.files")
    private let program: String
    private let starter = WorkerStarter<FetchWorkerProcess>("the fetch worker")
    private var waiting: [FetchTask] = []
    private var nextID = 1
    private var transfersPerWorker = 500
    private var maxSize = Int64.max
    private var grace = Duration.seconds(2)
    /// Extra time that a worker gets beyond `FetchLimits.longestSilence`, in case the machine is slow.
    private let patience: Duration
    /// Time of the next scheduled check for silent workers.
    private var listensAt: DispatchTime?

    package init(program: String, patience: Duration = .seconds(30)) {
        (self.program, self.patience) = (program, patience)
        starter.again = { [weak self] in self?.balance() }
    }

    private var workers: [FetchWorkerProcess] { starter.workers }

    /// Sets the number of transfers per worker, the size limit of files, the time that a worker gets to stop a
    /// transfer, and whether only fully confined workers get transfers.
    package nonisolated func set(transfersPerWorker: Int, maxSize: Int64, grace: Duration, confined: Bool) {
        Coordination.async { [self] in
            self.transfersPerWorker = transfersPerWorker
            self.maxSize = maxSize
            self.grace = grace
            starter.mustBeConfined = confined
            for worker in workers { worker.limitFiles(to: maxSize) }
        }
    }

    /// Calls `reply` with the reason why the worker does not start, or with nil if it starts.
    package nonisolated func report(_ reply: @escaping @Sendable (_ problem: String?) -> Void) {
        Coordination.async { [self] in reply(starter.problem) }
    }

    package nonisolated func run(_ task: FetchTask) {
        Coordination.async { [self] in
            if task.cancelled || starter.isStopped { return task.done(.failure(.cancelled)) }
            waiting.append(task)
            balance()
        }
    }

    /// Tells the worker to stop the transfer. Kills the worker if it does not answer; the worker's other transfers then
    /// restart.
    package nonisolated func cancel(_ task: FetchTask) {
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

    /// Cancels all transfers; calls `done` when the last worker has ended.
    package nonisolated func stop(_ done: @escaping @Sendable () -> Void) {
        Coordination.async { [self] in
            for task in waiting { task.done(.failure(.cancelled)) }
            waiting = []
            for worker in workers { worker.leave() }
            starter.stop(done)
        }
    }

    // MARK: - Scheduling

    private func place(of task: FetchTask) -> (FetchWorkerProcess, Int)? {
        for worker in workers {
            if let id = worker.tasks.first(where: { $0.value === task })?.key { return (worker, id) }
        }
        return nil
    }

    /// Gives waiting transfers to the worker, and starts a worker if there is none.
    private func balance() {
        guard !starter.isStopped, !waiting.isEmpty, !starter.isPausing else { return }
        dismissOutdated()
        guard let worker = workers.first(where: { !$0.isLeaving }) else { return start() }
        guard worker.isReady else { return }
        while let task = waiting.first, mayBegin(task), !worker.isLeaving {
            begin(waiting.removeFirst(), on: worker)
        }
        if worker.isLeaving { balance() }
    }

    /// Whether the transfer may start now. A transfer whose worker died is retried alone.
    private func mayBegin(_ task: FetchTask) -> Bool {
        workers.allSatisfy { $0.tasks.values.allSatisfy { task.losses == 0 && $0.losses == 0 } }
    }

    private func dismissOutdated() {
        for worker in workers where !worker.isLeaving && worker.isOutdated { dismiss(worker) }
    }

    private func dismiss(_ worker: FetchWorkerProcess) {
        worker.isLeaving = true
        if worker.tasks.isEmpty { worker.leave() }
    }

    private func begin(_ task: FetchTask, on worker: FetchWorkerProcess) {
        let id = nextID
        nextID += 1
        worker.tasks[id] = task
        worker.begun += 1
        (task.heard, task.isSilent) = (.now(), false)
        listen()
        worker.send(
            FetchOrder.fetch(
                FetchRequest(
                    id: id, url: task.wish.url, resume: task.resume, limits: task.wish.limits, login: task.wish.login)),
            descriptors: [task.target])
        if worker.begun >= transfersPerWorker { dismiss(worker) }
    }

    /// Schedules the next check for silent workers. A worker is silent if it has not reported on one of its transfers
    /// for too long.
    private func listen() {
        guard let silent = workers.flatMap({ $0.tasks.values.map(silent) }).min() else { return }
        let time = max(silent, .now() + .milliseconds(100))
        if let listensAt, listensAt <= time { return }
        listensAt = time
        Coordination.at(time) { [self] in
            guard listensAt == time else { return }
            listensAt = nil
            for worker in workers where !worker.killed { endIfSilent(worker) }
            listen()
        }
    }

    /// The time by which the worker must have reported on the transfer.
    private func silent(_ task: FetchTask) -> DispatchTime {
        task.heard + (task.wish.limits.longestSilence + patience).dispatch
    }

    private func endIfSilent(_ worker: FetchWorkerProcess) {
        let now = DispatchTime.now()
        let mute = worker.tasks.values.filter { !$0.cancelled && silent($0) <= now }
        guard !mute.isEmpty else { return }
        for task in mute {
            task.losses += 1
            task.isSilent = true
        }
        Log.failure("the fetch worker is silent about \(mute.count.counted("download")) in progress, and is replaced")
        worker.terminate()
    }

    private func start() {
        let worker = starter.start(within: Self.startTimeout) { try FetchWorkerProcess(program: program, pool: self) }
        worker?.limitFiles(to: maxSize)
        worker?.limitMemory(to: Self.memory)
    }

    // MARK: - The worker's messages

    func received(_ message: FetchMessage, from worker: FetchWorkerProcess) {
        switch message {
        case .hello(_, let missing):
            guard starter.admits(worker, missing: missing) else { return }
            worker.isReady = true
            balance()
        case .progress(let id, let received, let total, let kept):
            guard let task = worker.tasks[id] else { return }
            (task.heard, task.resume) = (.now(), kept)
            task.progress(received, total, kept)
        case .done(let id, let file): finish(id, of: worker, .success(file))
        case .failed(let id, let failure): finish(id, of: worker, .failure(.transfer(failure)))
        case .cancelled(let id): finish(id, of: worker, .failure(.cancelled))
        }
    }

    private func finish(_ id: Int, of worker: FetchWorkerProcess, _ result: Result<FetchedFile, FetchTask.Failure>) {
        guard let task = worker.tasks.removeValue(forKey: id) else { return }
        starter.succeeded()
        task.done(task.cancelled ? .failure(.cancelled) : result)
        if worker.isLeaving, worker.tasks.isEmpty { worker.leave() }
        balance()
    }

    func ended(_ worker: FetchWorkerProcess, _ end: WorkerEnd) {
        let lost = worker.tasks.sorted { $0.key < $1.key }.map(\.value)
        worker.tasks = [:]
        if !worker.isReady, !worker.isLeaving {
            starter.failed("\(end) before it said hello")
        } else if !worker.killed, !lost.isEmpty, !starter.isStopped {
            Log.failure("the fetch worker \(end) with \(lost.count.counted("download")) in progress, to be restarted")
        }
        let again = lost.filter { task in
            if task.cancelled || starter.isStopped {
                task.done(.failure(.cancelled))
                return false
            }
            // If the pool killed the worker for its silence, the silent transfers' losses are already counted, and the
            // other transfers are not to blame.
            if !worker.killed { task.losses += 1 }
            // If the sandbox ended a worker that had only one transfer, that transfer is to blame. A retry would put
            // another worker at risk.
            let isCaught = end.isByConfinement && lost.count == 1
            guard task.losses > 1 || isCaught else { return true }
            let silence = FetchTask.Failure.silent(task.wish.limits.longestSilence + patience)
            task.done(.failure(end.isByConfinement ? .confined : task.isSilent ? silence : .workerLost(end)))
            return false
        }
        waiting = again + waiting
        starter.forget(worker)
        balance()
    }
}
