import DaemonRuntime
import Dispatch
import PipelineModel
import WorkerProtocol

/// The plugins that a generation of workers loads.
struct WorkerPlugins: Sendable {
    /// The folder that contains the copies of the plugins.
    var folder: String
    /// The original file of each filter, by filter name.
    var files: [String: String]
}

/// The processes of the render workers, grouped by generation.
///
/// Workers started with the same plugins form a generation. A new generation starts with one worker on trial. Once its
/// plugins are accepted, idle workers of the old generation exit at once, and busy workers exit after their current
/// picture.
@Coordination
final class WorkerGenerations {
    typealias Answer = (Result<(Hello, RenderWorkerProcess), WorkerStartError>) -> Void

    let starter = WorkerStarter<RenderWorkerProcess>("a render worker")
    /// Whether new workers start with the JPEG XL encoder.
    var writesJXL = false
    var decoders = Decoders() {
        didSet { dismissOutdated() }
    }
    private let program: String
    /// Folders that contain a resource folder for each filter.
    private let resources: [String]
    /// The plugins of the current generation.
    private var plugins: WorkerPlugins?
    private var current = 0
    /// How long a worker may take to start. The time is limited, because a plugin may hang while it loads.
    private var startTimeout = PluginSettings().timeout
    private var trials: [Int32: Trial] = [:]

    /// A worker on trial, and the plugin that it is loading.
    private struct Trial {
        var done: Answer
        var loading: String?
    }

    init(program: String, resources: [String]) {
        (self.program, self.resources) = (program, resources)
    }

    var workers: [RenderWorkerProcess] { starter.workers }

    /// The workers that have a picture or may get one. Excludes a worker on trial, because it belongs to the next
    /// generation.
    var present: [RenderWorkerProcess] { workers.filter { !$0.isLeaving && $0.generation <= current } }

    func isCurrent(_ worker: RenderWorkerProcess) -> Bool {
        worker.generation == current && worker.decoders == decoders
    }

    func isStarting(_ worker: RenderWorkerProcess) -> Bool { !worker.isReady && trials[worker.process] == nil }

    /// Starts another worker of the current generation. Returns false if that is impossible now.
    func startAnother(for pool: WorkerPool) -> Bool {
        guard let plugins, !starter.isPausing else { return false }
        return start(current, plugins, pool) != nil
    }

    private func start(_ generation: Int, _ plugins: WorkerPlugins, _ pool: WorkerPool) -> RenderWorkerProcess? {
        let worker = starter.start(within: startTimeout) {
            try RenderWorkerProcess(
                program: program, arguments: resources.flatMap { ["--resources", $0] } + [plugins.folder],
                generation: generation, writesJXL: writesJXL, decoders: decoders, pool: pool)
        }
        worker?.files = plugins.files
        return worker
    }

    // MARK: - Trials

    /// Starts one worker of the next generation with the plugins in this folder, which must load within `timeout`.
    func tryPlugins(
        in folder: String, within timeout: Duration, for pool: WorkerPool, _ done: @escaping Answer
    ) {
        startTimeout = timeout
        guard let worker = start(current + 1, WorkerPlugins(folder: folder, files: [:]), pool) else {
            return done(.failure(WorkerStartError(program: program, how: "can't be started")))
        }
        trials[worker.process] = Trial(done: done)
    }

    /// Ends the trial of a worker. If `accepted` is nil, tells the worker to exit. Otherwise, makes the worker's
    /// generation the current one.
    func judge(_ worker: RenderWorkerProcess, _ accepted: WorkerPlugins?) {
        guard let accepted else {
            if workers.contains(where: { $0 === worker }) { worker.leave() }
            return
        }
        plugins = accepted
        worker.files = accepted.files
        current = max(current, worker.generation)
        dismissOutdated()
    }

    /// Ends outdated workers that have no picture.
    private func dismissOutdated() {
        for worker in workers where worker.generation <= current && !isCurrent(worker) {
            if worker.isIdle || isStarting(worker) { worker.leave() }
        }
    }

    func note(loading plugin: String, _ worker: RenderWorkerProcess) { trials[worker.process]?.loading = plugin }

    /// Returns whether the worker may get work. Returns false for a worker on trial, because the caller of `tryPlugins`
    /// decides about that worker.
    func admits(_ worker: RenderWorkerProcess, _ hello: Hello) -> Bool {
        guard let trial = trials.removeValue(forKey: worker.process) else {
            return starter.admits(worker, missing: hello.missing)
        }
        trial.done(.success((hello, worker)))
        return false
    }

    /// Called when a worker has ended before it sent `hello`.
    func failedToStart(_ worker: RenderWorkerProcess, _ end: WorkerEnd) {
        guard let trial = trials.removeValue(forKey: worker.process) else {
            return starter.failed("\(end) before it said hello")
        }
        let how = worker.killed ? "did not start within PluginTimeout=\(startTimeout.text)" : end.description
        trial.done(.failure(WorkerStartError(program: program, how: how, loading: trial.loading)))
    }
}
