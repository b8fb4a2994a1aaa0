package import DaemonRuntime
import Dispatch
package import PipelineModel
import ServiceProgram
package import SystemCalls
package import WorkerProtocol

/// Keeps at least one render worker, and starts more workers as pictures arrive, up to the capacity. Each worker
/// renders one picture at a time. A task waits here for three reasons only: a worker is starting, a task must run
/// alone, or the task may be lent and no slot is free here or in the fleet.
@Coordination
package final class WorkerPool: FleetLender {
    private let generations: WorkerGenerations
    private let fleet: FleetPool?
    private var pace = RenderPace()
    private var waiting: [RenderTask] = []
    /// Maximum number of pictures rendered at once. Starts at 1, not 0, so that the worker on trial stays once its
    /// plugins are accepted.
    private var capacity = 1
    /// Number of pictures that will soon become tasks.
    private var expected = 0
    private var jobsPerWorker = 500
    private var files = FilterFileTable()
    private var room = MemoryRoom(budget: .max)
    /// Workers with a picture that waits for memory, in order of arrival; pictures that yield come last.
    private var waitingForMemory: [RenderWorkerProcess] = []
    /// Time of the next scheduled check for overdue tasks.
    private var nextLook: DispatchTime?

    package init(program: String, resources: [String], fleet: FleetPool? = nil) {
        generations = WorkerGenerations(program: program, resources: resources)
        self.fleet = fleet
        starter.again = { [weak self] in self?.balance() }
        fleet?.lender = self
    }

    private var workers: [RenderWorkerProcess] { generations.workers }
    private var starter: WorkerStarter<RenderWorkerProcess> { generations.starter }

    /// Starts one worker of a new generation with the plugins in this folder, which must load within `timeout`. `done`
    /// receives the worker's `hello` message. Call `accept` with plugins to make that generation current, or with nil
    /// to make the worker exit.
    nonisolated func trial(
        _ plugins: String, within timeout: Duration,
        _ done:
            @escaping @Sendable (Result<(hello: Hello, accept: @Sendable (WorkerPlugins?) -> Void), WorkerStartError>)
            ->
            Void
    ) {
        Coordination.async { [self] in
            generations.tryPlugins(in: plugins, within: timeout, for: self) { result in
                done(
                    result.map { hello, worker in
                        (hello, { plugins in Coordination.async { self.judge(worker, plugins) } })
                    })
            }
        }
    }

    private func judge(_ worker: RenderWorkerProcess, _ plugins: WorkerPlugins?) {
        generations.judge(worker, plugins)
        balance()
    }

    /// Sets the number of pictures rendered at once, their total memory, the number of pictures after which a worker is
    /// replaced, whether only fully confined workers get pictures, the decoders of JPEGs and PNGs, and the files that
    /// filters use, by SHA-256.
    package nonisolated func set(
        capacity: Int, memory: Int64, jobsPerWorker: Int, confined: Bool, decoders: Decoders = Decoders(),
        files: [String: Descriptor] = [:]
    ) {
        Coordination.async { [self] in
            generations.decoders = decoders
            self.capacity = capacity
            self.jobsPerWorker = jobsPerWorker
            starter.mustBeConfined = confined
            self.files.add(files)
            room.budget = memory
            admit()
            balance()
        }
    }

    /// Starts workers in advance for pictures that will arrive soon.
    package func expect(_ pictures: Int) {
        guard pictures != expected else { return }
        expected = pictures
        balance()
    }

    /// Call this method in two cases: if local slots have become free, so that the pool takes back lent pictures, and
    /// if the fleet may have room for a picture that waits here.
    package func lookAtFleet() { balance() }

    package struct Report: Sendable {
        package let workers: Int
        /// Why workers don't start; nil if they do.
        package let problem: String?
        /// The memory granted to the pictures being rendered; `budget` is the limit for all of them together.
        package let granted: Int64
        package let budget: Int64
    }

    package nonisolated func report(_ reply: @escaping @Sendable (Report) -> Void) {
        Coordination.async { [self] in
            reply(
                Report(
                    workers: workers.count { !$0.isLeaving }, problem: starter.problem, granted: room.granted,
                    budget: room.budget))
        }
    }

    package nonisolated func run(_ task: RenderTask) {
        Coordination.async { [self] in
            if task.cancelled || starter.isStopped { return task.done(.failure(.cancelled)) }
            if task.lending?.isRemoteDownload == true { return lendOnly(task) }
            waiting.lineUp(task, yields: \.yields)
            balance()
        }
    }

    /// Tells the worker to stop the task, and kills the worker if it does not stop within the grace period.
    package nonisolated func cancel(_ task: RenderTask) {
        Coordination.async { [self] in
            task.cancelled = true
            if let index = waiting.firstIndex(where: { $0 === task }) {
                waiting.remove(at: index)
                return task.done(.failure(.cancelled))
            }
            if fleet?.cancel(task) == true { return }
            guard let worker = workers.first(where: { $0.task === task }) else { return }
            if case .waitsForMemory = worker.state {
                finish(worker, .failure(.cancelled))
                return release(worker, replace: false)
            }
            worker.send(SupervisorMessage.cancel)
            Coordination.after(task.limits.cancelGrace) {
                if worker.task === task { worker.terminate() }
            }
        }
    }

    /// Ends all workers; calls `done` when the last worker has ended.
    package nonisolated func stop(_ done: @escaping @Sendable () -> Void) {
        Coordination.async { [self] in
            for task in waiting { task.done(.failure(.cancelled)) }
            waiting = []
            for worker in workers { worker.task == nil ? worker.leave() : worker.terminate() }
            starter.stop(done)
        }
    }

    // MARK: - Scheduling

    /// Gives waiting tasks to idle workers, and starts or dismisses workers to match the capacity.
    private func balance() {
        guard !starter.isStopped else { return }
        while let index = next, mayBegin(waiting[index]),
            let worker = workers.first(where: {
                $0.isIdle && generations.isCurrent($0) && $0.mayWork(on: waiting[index])
            })
        {
            begin(waiting.remove(at: index), on: worker)
        }
        lendOrTakeBack()
        for task in waiting where !task.isWaiting && !mayBegin(task) {
            task.isWaiting = true
            task.reports.waits(
                task.alone
                    ? "the other jobs in progress: it runs alone, because its worker, or the daemon, was lost with it"
                    : "a job that runs alone, because its worker, or the daemon, was lost with it")
        }
        makeWayForJXL()
        let present = generations.present
        // A task that can't be lent gets a worker even if the capacity has just been lowered. At least one worker
        // stays, even without any task.
        let mustBegin = waiting.count { $0.lending == nil }
        let needed = busy + mustBegin + min(waiting.count - mustBegin, max(0, capacity - busy - mustBegin))
        let most = max(capacity, needed)
        let wanted = max(needed, min(capacity, max(1, needed + expected)))
        if present.count > most {
            for worker in present.filter(\.isIdle).prefix(present.count - most) { worker.leave() }
        } else if present.count < wanted, generations.startAnother(for: self) {
            // Starting a process takes a while, so let other blocks on this queue run before the next start.
            Coordination.async { [self] in balance() }
        }
    }

    private var busy: Int { workers.count { $0.task != nil && !$0.isLeaving } }

    /// Index in `waiting` of the task to start next. At full capacity, only tasks that must be rendered here are
    /// considered.
    private var next: Int? {
        busy < capacity ? waiting.indices.first : waiting.firstIndex { $0.lending == nil }
    }

    /// If no slot is free, lends the waiting tasks that the fleet wants. If slots are free and no task waits, takes
    /// lent tasks back.
    private func lendOrTakeBack() {
        guard let fleet, fleet.isJoined else { return }
        let free = capacity - busy - waiting.count { $0.lending == nil }
        guard free <= 0 else {
            if waiting.isEmpty { fleet.takeBack(most: min(free, fleet.delegate?.spareSlots ?? 0)) }
            return
        }
        while let index = waiting.firstIndex(where: { fleet.wants($0, expected: pace.expected($0.outputs)) }) {
            fleet.lend(waiting.remove(at: index))
        }
    }

    /// Whether the fleet would take a picture that has not been downloaded yet. `others` is the caller's count of
    /// pictures that other nodes download.
    package func lends(_ outputs: [RenderOutput], _ url: LentBytes, besides others: Int) -> Bool {
        guard let fleet, fleet.isJoined else { return false }
        return fleet.wants(outputs, url, expected: pace.expected(outputs), besides: others)
    }

    private func lendOnly(_ task: RenderTask) {
        guard let fleet, task.lending?.only != nil || fleet.wants(task, expected: pace.expected(task.outputs)) else {
            return task.done(.failure(.notLent(nil)))
        }
        fleet.lend(task)
    }

    /// Queues a task that the fleet has returned, to render it here. Returned tasks go before tasks that were never
    /// lent, in the order in which they were first lent.
    func takeHome(_ task: RenderTask) {
        guard !task.cancelled, !starter.isStopped else { return task.done(.failure(.cancelled)) }
        if task.lending?.isRemoteDownload == true { return task.done(.failure(.notLent(nil))) }
        task.reports.waits(nil)
        let order = task.lentFirst ?? 0
        waiting.insert(task, at: waiting.firstIndex { ($0.lentFirst ?? .max) > order } ?? waiting.endIndex)
        balance()
    }

    /// If the next task's result is JPEG XL, dismisses an idle worker without the encoder, so that a worker with the
    /// encoder can start. A confined worker can't load the encoder later.
    private func makeWayForJXL() {
        guard let task = next.map({ waiting[$0] }), task.writesJXL, mayBegin(task), !starter.isPausing else { return }
        generations.writesJXL = true
        guard !workers.contains(where: { generations.isStarting($0) && $0.mayWork(on: task) }) else { return }
        workers.first(where: \.isIdle)?.leave()
    }

    /// Whether the task may start now. A task that must run alone waits until no other task runs, and meanwhile no
    /// other task starts.
    private func mayBegin(_ task: RenderTask) -> Bool {
        workers.allSatisfy { worker in worker.task.map { !task.alone && !$0.alone } ?? true }
    }

    private func begin(_ task: RenderTask, on worker: RenderWorkerProcess) {
        guard !task.files.sources.isEmpty else { return task.done(.failure(.cancelled)) }
        let isNew = worker.outputs != task.outputs
        let digests = isNew ? task.outputs.flatMap(\.stages).fileDigests : []
        if let failure = files.lack(of: digests, for: task) { return task.done(.failure(.picture(failure))) }
        worker.state = .busy(task)
        worker.jobs += 1
        task.processorTimeBefore = worker.processorTime
        task.reports.begun(worker.process)
        goOn(task)
        worker.limitFiles(to: task.limits.maxResult)
        if case .compose(let sheet) = task.kind { return wait(for: sheet.memory, task, on: worker) }
        let grant = grant(task, besides: digests.count)
        if let grant { worker.allow(memory: grant) }
        worker.send(
            SupervisorMessage.open(
                OpenRequest(
                    name: task.name, outputs: isNew ? task.outputs : nil,
                    maxPixels: task.limits.maxPixels, maxTexts: task.limits.maxTexts,
                    onTruncated: task.limits.onTruncated, raw: task.limits.raw, filterLines: task.limits.filterLines,
                    grant: grant)),
            descriptors: task.files.sources + (grant == nil ? [] : task.files.targets)
                + files[digests])
        worker.outputs = task.outputs
        task.files.sources = []
        if grant != nil { task.files.targets = [] }
        restartTimer(task)
    }

    /// Grants memory for a task before its header is known. Returns nil if other workers already wait for memory, if
    /// the task is under suspicion, or if one message can't carry all descriptors. `others` is the number of
    /// descriptors besides the task's sources and targets.
    private func grant(_ task: RenderTask, besides others: Int) -> Int64? {
        guard waitingForMemory.isEmpty, !task.alone, case .render = task.kind,
            task.files.sources.count + task.files.targets.count + others <= WorkerChannel.mostDescriptors
        else { return nil }
        return room.grant(task)
    }

    // MARK: - Time

    private func restartTimer(_ task: RenderTask) {
        let deadline = DispatchTime.now() + task.limits.timeout.dispatch
        task.deadline = deadline
        look(at: deadline)
    }

    /// Schedules a check for overdue tasks. All tasks share one timer, because a cancelled `asyncAfter` stays in memory
    /// until its time.
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

    /// Called with the header of a picture that the worker is already rendering, because the memory granted in advance
    /// suffices for it.
    private func adjust(_ task: RenderTask, to header: PictureHeader) {
        task.reports.opened(header)
        room.adjust(task, needing: header.memory)
        restartTimer(task)
        admit()
    }

    /// Called when a picture's header is known. The picture continues, waits for memory, or fails because it exceeds
    /// the budget.
    private func weigh(_ header: PictureHeader, _ task: RenderTask, on worker: RenderWorkerProcess) {
        task.reports.opened(header)
        room.leave(task)
        if case .look = task.kind {
            finish(worker, task.cancelled ? .failure(.cancelled) : .success([]))
            return release(worker, replace: false)
        }
        wait(for: header.memory, task, on: worker)
    }

    private func wait(for need: Int64, _ task: RenderTask, on worker: RenderWorkerProcess) {
        guard !room.isTooSmall(for: need) else {
            finish(
                worker,
                .failure(
                    .tooHeavy(
                        "it needs about \(need.memoryText) of memory, and MemoryBudget allows "
                            + room.budget.memoryText)))
            return release(worker, replace: false)
        }
        task.deadline = nil
        worker.state = .waitsForMemory(task, need)
        waitingForMemory.lineUp(worker) { $0.task?.yields ?? false }
        admit()
        guard case .waitsForMemory = worker.state else { return }
        task.isWaiting = true
        task.reports.waits(
            "memory: it needs about \(need.memoryText), which other pictures use (MemoryBudget allows "
                + "\(room.budget.memoryText))")
    }

    private func goOn(_ task: RenderTask) {
        guard task.isWaiting else { return }
        task.isWaiting = false
        task.reports.waits(nil)
    }

    private func admit() {
        while let worker = waitingForMemory.first, case .waitsForMemory(let task, let need) = worker.state,
            room.enter(task, needing: need)
        {
            waitingForMemory.removeFirst()
            worker.state = .busy(task)
            goOn(task)
            worker.allow(memory: need)
            if case .compose(let sheet) = task.kind {
                worker.send(SupervisorMessage.compose(sheet), descriptors: task.files.sources + task.files.targets)
                task.files.sources = []
            } else {
                worker.send(SupervisorMessage.render, descriptors: task.files.targets)
            }
            task.files.targets = []
            restartTimer(task)
        }
    }

    // MARK: - The workers' messages

    func received(_ message: WorkerMessage, from worker: RenderWorkerProcess) {
        if let task = worker.task, !message.isPlausible(results: task.resultCount) {
            return worker.distrust("something impossible about \(task.name)")
        }
        switch (message, worker.state) {
        case (.loading(let plugin), .starting):
            generations.note(loading: plugin, worker)
        case (.hello(let hello), .starting):
            worker.state = .idle
            if generations.admits(worker, hello) { balance() }
        case (.progress(let done, let total), .busy(let task)):
            task.reports.progress(done, total)
        case (.opened(let header), .busy(let task)):
            weigh(header, task, on: worker)
        case (.rendering(let header), .busy(let task)):
            adjust(task, to: header)
        case (.made(let header, let outputs), .busy(let task)):
            task.reports.opened(header)
            received(.rendered(outputs), from: worker)
        case (.rendered(let outputs), .busy(let task)):
            if task.lending != nil, let used = worker.processorTime, let before = task.processorTimeBefore {
                pace.take(used - before, for: task.outputs)
            }
            finish(worker, task.cancelled ? .failure(.cancelled) : .success(outputs))
            release(worker, replace: task.cancelled)
        case (.failed(let failure), .busy(let task)):
            finish(worker, .failure(task.cancelled ? .cancelled : .picture(failure.naming(worker.files))))
            // Replaces the worker after a failed save, because some encoders leave garbage behind. Also replaces it
            // after a denied system call, because it can't be trusted any more.
            release(
                worker, replace: task.cancelled || failure.stage == "save" || failure.stage == WorkerFailure.confinement
            )
        case (.said(let line), .busy(let task)):
            // The worker limits its log lines itself, and sends one extra line with the number of dropped lines.
            // Further lines of a faulty worker are ignored.
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

    private func log(_ line: FilterLine, of task: RenderTask, _ worker: RenderWorkerProcess) {
        let file = line.filter.flatMap { worker.files[$0] }.map { " (\($0))" } ?? ""
        let text = "\(task.name): \(line.filter.map { "the filter '\($0)' says: " } ?? "")\(line.text)\(file)"
        var subject = task.subject
        subject.filter = line.filter
        line.isWarning ? Log.failure(text, of: subject) : Log.notice(text, of: subject)
    }

    private func finish(_ worker: RenderWorkerProcess, _ result: Result<[RenderedOutput], RenderTask.Failure>) {
        guard let task = worker.task else { return }
        starter.succeeded()
        worker.state = .leaving
        waitingForMemory.removeAll { $0 === worker }
        room.leave(task)
        task.files.sources = []
        task.files.targets = []
        task.done(result)
        admit()
    }

    private func release(_ worker: RenderWorkerProcess, replace: Bool) {
        if replace || worker.jobs >= jobsPerWorker || !generations.isCurrent(worker) || starter.isStopped {
            worker.leave()
        } else {
            worker.state = .idle
        }
        balance()
    }

    func ended(_ worker: RenderWorkerProcess, _ end: WorkerEnd) {
        switch worker.state {
        case .starting:
            generations.failedToStart(worker, end)
        case .busy(let task), .waitsForMemory(let task, _):
            if !worker.killed { Log.failure("the render worker of \(task.name) \(end)", of: task.subject) }
            let failure: RenderTask.Failure =
                end.isByConfinement ? .confined(worker.suspicion) : .workerLost(end, worker.suspicion)
            finish(worker, .failure(task.cancelled ? .cancelled : failure))
        case .idle:
            if !starter.isStopped { Log.failure("an idle render worker \(end); another takes its place") }
            if worker.jobs == 0 { starter.failed() }
        case .leaving:
            break
        }
        starter.forget(worker)
        balance()
    }
}

extension Array {
    /// Inserts an element before all elements for which `yields` is true, or at the end if `yields` is true for the
    /// element itself.
    fileprivate mutating func lineUp(_ element: Element, yields: (Element) -> Bool) {
        insert(element, at: yields(element) ? endIndex : firstIndex(where: yields) ?? endIndex)
    }
}
