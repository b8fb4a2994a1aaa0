import DaemonRuntime
import Dispatch
import Glibc
import PipelineModel
import SystemCalls
import WorkerProtocol

/// The render workers: as many as may run at once, each with one picture at a time. A task waits here only while its worker starts.
///
/// Workers belong to a generation: those that were started with the same plugins. A new generation begins with one
/// worker on trial; when its plugins are accepted, idle workers of the old one leave and busy ones finish first.
@Coordination
final class WorkerPool {
    /// What the workers of a generation load.
    struct Plugins: Sendable {
        /// Where their copies are.
        var folder: String
        /// The files of the filters, by their names, as people know them.
        var files: [String: String]
    }

    private let program: String
    /// Folders in which filters have folders of their own.
    private let resources: [String]
    /// Of this generation.
    private var plugins: Plugins?
    /// A plugin may hang while it is loaded.
    private var startTimeout = PluginSettings().timeout
    private var workers: [Worker] = []
    private var waiting: [RenderTask] = []
    /// Before it is set: the one on trial, which stays when its plugins are accepted.
    private var capacity = 1
    private var jobsPerWorker = 500
    private var mustBeConfined = false
    private var generation = 0
    private var failedStarts = 0
    private var restarting = false
    private var stopped = false
    private var trials: [Int32: Trial] = [:]
    private var emptied: (@Sendable () -> Void)?
    private var room = MemoryRoom(budget: .max)
    /// Workers whose picture waits for room, as they came.
    private var held: [Worker] = []
    /// When it is looked next whether a task has taken too long.
    private var nextLook: DispatchTime?
    private let children: any DispatchSourceSignal

    /// A worker that is tried with plugins, and the one that it is loading.
    private struct Trial {
        var done: (Result<Hello, WorkerStartError>) -> Void
        var loading: String?
    }

    init(program: String, resources: [String]) {
        self.program = program
        self.resources = resources
        children = DispatchSource.makeSignalSource(signal: SIGCHLD, queue: Coordination.queue)
        children.setEventHandler { [weak self] in Coordination.assumeIsolated { self?.endStopped() } }
        children.activate()
    }

    private func endStopped() {
        for worker in workers { worker.endIfStopped() }
    }

    /// Starts one worker of a new generation, with the plugins in this folder, which have so long to load, and hands over what it said.
    /// `accept` makes its generation the current one, whose plugins are those from then on; with none the worker leaves.
    nonisolated func trial(
        _ plugins: String, within timeout: Duration,
        _ done:
            @escaping @Sendable (Result<(hello: Hello, accept: @Sendable (Plugins?) -> Void), WorkerStartError>) -> Void
    ) {
        Coordination.async { [self] in
            startTimeout = timeout
            let next = generation + 1
            guard let worker = start(generation: next, Plugins(folder: plugins, files: [:])) else {
                return done(.failure(WorkerStartError(program: program, how: "can't be started")))
            }
            let process = worker.process
            trials[process] = Trial { [self] result in
                done(
                    result.map { hello in
                        (hello, { plugins in Coordination.async { self.judge(process, next, plugins) } })
                    })
            }
        }
    }

    private func judge(_ process: Int32, _ next: Int, _ accepted: Plugins?) {
        let worker = workers.first { $0.process == process }
        guard let accepted else {
            worker?.leave()
            return
        }
        plugins = accepted
        worker?.files = accepted.files
        generation = max(generation, next)
        for old in workers where old.generation < generation && (old.isIdle || isStarting(old)) { old.leave() }
        balance()
    }

    /// How many pictures may be worked on at once, how much memory they may need together, how many a worker does before it is
    /// replaced, and whether one that is not confined in every way gets any.
    nonisolated func set(capacity: Int, memory: Int64, jobsPerWorker: Int, confined: Bool) {
        Coordination.async { [self] in
            self.capacity = capacity
            self.jobsPerWorker = jobsPerWorker
            mustBeConfined = confined
            room.budget = memory
            admit()
            balance()
        }
    }

    /// What keeps workers from starting, if so.
    nonisolated func report(_ reply: @escaping @Sendable (_ workers: Int, _ problem: String?) -> Void) {
        Coordination.async { [self] in
            let problem =
                failedStarts > 2 ? "render workers end at their start (\(failedStarts) in a row); see the log" : nil
            reply(workers.count { !$0.isLeaving }, problem)
        }
    }

    nonisolated func run(_ task: RenderTask) {
        Coordination.async { [self] in
            if task.cancelled || stopped { return task.done(.failure(.cancelled)) }
            waiting.append(task)
            balance()
        }
    }

    /// Asks for the task to stop, and ends its worker when it does not within the grace.
    nonisolated func cancel(_ task: RenderTask) {
        Coordination.async { [self] in
            task.cancelled = true
            if let index = waiting.firstIndex(where: { $0 === task }) {
                waiting.remove(at: index)
                return task.done(.failure(.cancelled))
            }
            guard let worker = workers.first(where: { $0.task === task }) else { return }
            if case .held = worker.state {
                finish(worker, .failure(.cancelled))
                return release(worker, replace: false)
            }
            worker.send(SupervisorMessage.cancel)
            Coordination.after(task.limits.cancelGrace) {
                if worker.task === task { worker.terminate() }
            }
        }
    }

    /// Ends all workers; `done` when the last is gone.
    nonisolated func stop(_ done: @escaping @Sendable () -> Void) {
        Coordination.async { [self] in
            stopped = true
            emptied = done
            for task in waiting { task.done(.failure(.cancelled)) }
            waiting = []
            for worker in workers { worker.task == nil ? worker.leave() : worker.terminate() }
            if workers.isEmpty { done() }
        }
    }

    // MARK: - In work

    private func isStarting(_ worker: Worker) -> Bool {
        if case .starting = worker.state { trials[worker.process] == nil } else { false }
    }

    /// Gives waiting tasks to idle workers, and starts or dismisses workers as the capacity asks.
    private func balance() {
        guard !stopped else { return }
        while let task = waiting.first, mayBegin(task),
            let worker = workers.first(where: { $0.isIdle && $0.generation == generation })
        {
            begin(waiting.removeFirst(), on: worker)
        }
        for task in waiting where !task.isHeld && !mayBegin(task) {
            task.isHeld = true
            task.held(
                task.alone
                    ? "the others in work: it runs alone, because its worker, or the daemon, was lost with it"
                    : "a job that runs alone, because its worker, or the daemon, was lost with it")
        }
        let present = workers.filter { !$0.isLeaving && $0.generation <= generation }
        // A task that is waiting is worked on even when the limit has just been lowered below it.
        let wanted = max(capacity, present.count { $0.task != nil } + waiting.count)
        if present.count > wanted {
            for worker in present.filter(\.isIdle).prefix(present.count - wanted) { worker.leave() }
        } else if let plugins, !restarting, present.count < wanted, start(generation: generation, plugins) != nil {
            // One after the other: starting a process takes a while, and whoever shares the thread has a turn in between.
            Coordination.async { [self] in balance() }
        }
    }

    /// One that is to run alone waits for the others to end, and those behind it for its own end.
    private func mayBegin(_ task: RenderTask) -> Bool {
        workers.allSatisfy { worker in worker.task.map { !task.alone && !$0.alone } ?? true }
    }

    private func start(generation: Int, _ plugins: Plugins) -> Worker? {
        do {
            let worker = try Worker(
                program: program, arguments: resources.flatMap { ["--resources", $0] } + [plugins.folder],
                generation: generation,
                // As long as it lives: the pool may be let go of first, when the daemon can't start.
                message: { [self] in received($1, from: $0) }, ended: { [self] in ended($0, $1) })
            worker.files = plugins.files
            workers.append(worker)
            Coordination.after(startTimeout) { [weak worker] in
                if let worker, case .starting = worker.state { worker.terminate() }
            }
            return worker
        } catch {
            Log.failure("can't start a render worker: \(error)")
            startFailed()
            return nil
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

    private func begin(_ task: RenderTask, on worker: Worker) {
        guard !task.sources.isEmpty else { return task.done(.failure(.cancelled)) }
        worker.state = .busy(task)
        worker.jobs += 1
        task.begun(worker.process)
        goOn(task)
        worker.limitFiles(to: task.limits.maxResult)
        let grant = grant(task)
        if let grant { worker.allow(memory: grant) }
        worker.send(
            SupervisorMessage.open(
                OpenRequest(
                    name: task.name, outputs: worker.outputs == task.outputs ? nil : task.outputs,
                    maxPixels: task.limits.maxPixels,
                    onTruncated: task.limits.onTruncated, filterLines: task.limits.filterLines, grant: grant)),
            descriptors: task.sources + (grant == nil ? [] : task.targets))
        worker.outputs = task.outputs
        task.sources = []
        if grant != nil { task.targets = [] }
        restartTimer(task)
    }

    /// Jobs that wait for room go first. No early grant for suspects.
    private func grant(_ task: RenderTask) -> Int64? {
        guard held.isEmpty, !task.alone, !task.looksOnly,
            task.sources.count + task.targets.count <= WorkerChannel.mostDescriptors
        else { return nil }
        return room.grant(task)
    }

    // MARK: - Time

    private func restartTimer(_ task: RenderTask) {
        let deadline = DispatchTime.now() + task.limits.timeout.dispatch
        task.deadline = deadline
        look(at: deadline)
    }

    /// One timer; a cancelled `asyncAfter` lingers.
    private func look(at time: DispatchTime) {
        if let nextLook, nextLook <= time { return }
        nextLook = time
        Coordination.at(time) { [self] in
            guard nextLook == time else { return }
            nextLook = nil
            endOverdue()
        }
    }

    private func endOverdue() {
        let now = DispatchTime.now()
        for worker in workers where worker.task?.deadline.map({ $0 <= now }) == true {
            finish(worker, .failure(.timedOut(worker.suspicion)))
            worker.terminate()
        }
        if let next = workers.compactMap({ $0.task?.deadline }).min() { look(at: next) }
    }

    // MARK: - Memory

    /// The picture needs no more than it was granted, and is being rendered.
    private func settle(_ header: PictureHeader, _ task: RenderTask) {
        task.opened(header)
        room.settle(task, needing: header.memory)
        restartTimer(task)
        admit()
    }

    /// The header is known: the picture goes on, waits for room, or fails because it will never have any.
    private func weigh(_ header: PictureHeader, _ task: RenderTask, on worker: Worker) {
        task.opened(header)
        room.leave(task)
        guard !task.looksOnly else {
            finish(worker, task.cancelled ? .failure(.cancelled) : .success([]))
            return release(worker, replace: false)
        }
        guard !room.canNeverHold(header.memory) else {
            finish(
                worker,
                .failure(
                    .tooHeavy(
                        "it needs about \(header.memory.memoryText) of memory, and MemoryBudget allows "
                            + room.budget.memoryText)))
            return release(worker, replace: false)
        }
        task.deadline = nil
        worker.state = .held(task, header.memory)
        held.append(worker)
        admit()
        guard case .held = worker.state else { return }
        task.isHeld = true
        task.held(
            "memory: it needs about \(header.memory.memoryText), which others use (MemoryBudget allows "
                + "\(room.budget.memoryText))")
    }

    private func goOn(_ task: RenderTask) {
        guard task.isHeld else { return }
        task.isHeld = false
        task.held(nil)
    }

    private func admit() {
        while let worker = held.first, case .held(let task, let need) = worker.state,
            room.enter(task, needing: need)
        {
            held.removeFirst()
            worker.state = .busy(task)
            goOn(task)
            worker.allow(memory: need)
            worker.send(SupervisorMessage.render, descriptors: task.targets)
            task.targets = []
            restartTimer(task)
        }
    }

    // MARK: - What workers say

    private func received(_ message: WorkerMessage, from worker: Worker) {
        switch (message, worker.state) {
        case (.loading(let plugin), .starting):
            trials[worker.process]?.loading = plugin
        case (.hello(let hello), .starting):
            worker.state = .idle
            // Whether it will do is for the configuration to say that it is tried with.
            if let trial = trials.removeValue(forKey: worker.process) { return trial.done(.success(hello)) }
            if mustBeConfined, !hello.missing.isEmpty {
                Log.failure(
                    "a render worker is not confined, which Sandbox=required asks for: \(hello.missing.joined(separator: ", "))"
                )
                worker.leave()
                return startFailed()
            }
            balance()
        case (.progress(let done, let total), .busy(let task)):
            task.progress(done, total)
        case (.opened(let header), .busy(let task)):
            weigh(header, task, on: worker)
        case (.rendering(let header), .busy(let task)):
            settle(header, task)
        case (.made(let header, let outputs), .busy(let task)):
            task.opened(header)
            received(.rendered(outputs), from: worker)
        case (.rendered(let outputs), .busy(let task)):
            finish(worker, task.cancelled ? .failure(.cancelled) : .success(outputs))
            release(worker, replace: task.cancelled)
        case (.failed(let failure), .busy(let task)):
            finish(worker, .failure(task.cancelled ? .cancelled : .picture(failure.naming(worker.files))))
            // A save that failed leaves things behind in some encoders; who tried what it may not is not trusted again.
            release(
                worker, replace: task.cancelled || failure.stage == "save" || failure.stage == WorkerFailure.confinement
            )
        case (.said(let line), .busy(let task)):
            // The worker counts its lines itself, and reports how many were left out.
            guard task.lines <= task.limits.filterLines else { break }
            task.lines += 1
            log(line, of: task, worker)
        case (.crashed(let note), _):
            worker.crash = note
        case (.cancelled, .busy):
            finish(worker, .failure(.cancelled))
            release(worker, replace: true)
        default:
            break
        }
    }

    private func log(_ line: FilterLine, of task: RenderTask, _ worker: Worker) {
        let file = line.filter.flatMap { worker.files[$0] }.map { " (\($0))" } ?? ""
        let text = "\(task.name): \(line.filter.map { "the filter '\($0)' says: " } ?? "")\(line.text)\(file)"
        var subject = task.subject
        subject.filter = line.filter
        line.isWarning ? Log.failure(text, of: subject) : Log.notice(text, of: subject)
    }

    private func finish(_ worker: Worker, _ result: Result<[RenderedOutput], RenderTask.Failure>) {
        guard let task = worker.task else { return }
        failedStarts = 0
        worker.state = .leaving
        held.removeAll { $0 === worker }
        room.leave(task)
        task.sources = []
        task.targets = []
        task.done(result)
        admit()
    }

    private func release(_ worker: Worker, replace: Bool) {
        if replace || worker.jobs >= jobsPerWorker || worker.generation != generation || stopped {
            worker.leave()
        } else {
            worker.state = .idle
        }
        balance()
    }

    private func ended(_ worker: Worker, _ end: WorkerEnd) {
        let how = end.description
        workers.removeAll { $0 === worker }
        switch worker.state {
        case .starting:
            if let trial = trials.removeValue(forKey: worker.process) {
                let how = worker.killed ? "did not come up within PluginTimeout=\(startTimeout.text)" : how
                trial.done(.failure(WorkerStartError(program: program, how: how, loading: trial.loading)))
                break
            }
            Log.failure("a render worker \(how) before it said hello")
            startFailed()
        case .busy(let task), .held(let task, _):
            if !worker.killed { Log.failure("the render worker of \(task.name) \(how)", of: task.subject) }
            let failure: RenderTask.Failure =
                end.isByConfinement ? .confined(worker.suspicion) : .workerLost(end, worker.suspicion)
            finish(worker, .failure(task.cancelled ? .cancelled : failure))
        case .idle:
            if !stopped { Log.failure("an idle render worker \(how); another takes its place") }
            if worker.jobs == 0 { startFailed() }
        case .leaving:
            break
        }
        if stopped, workers.isEmpty { emptied?() }
        balance()
    }
}

/// A render worker that does not come up.
struct WorkerStartError: Error, Sendable, CustomStringConvertible {
    let program: String
    let how: String
    /// The plugin that it was loading.
    var loading: String?

    var description: String { "the render worker \(program) \(how)" }
}
