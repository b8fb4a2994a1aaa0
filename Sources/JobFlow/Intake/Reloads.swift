import DaemonConfiguration
package import DaemonInterface
package import DaemonRuntime
import Dispatch
import PipelineModel
import ServiceProgram
import SystemCalls
import WorkerPools
import WorkerProtocol

/// Reloads configuration and plugins. If there are any problems, nothing takes effect.
@Coordination
package final class Reloads {
    package typealias Done = @Coordination @Sendable (Reloaded) -> Void

    private let configuration: ConfigurationInForce
    private let plugins: PluginGenerations
    private let pool: WorkerPool
    private let inboxes: Inboxes
    /// Runs work on files whose disk may not answer.
    nonisolated private let lane = FileLane(threads: 1)
    weak var events: (any DaemonEvents)?
    /// Whether a reload or a trial of plugins is in progress.
    private var isReloading = false
    /// Callers whose reload or trial has not begun. A trial only reports problems.
    private var waiting: [(isTrial: Bool, done: Done)] = []
    /// The problems that made the latest reload fail. Empty if it succeeded.
    private var problems: [Problem] = []

    init(_ configuration: ConfigurationInForce, _ plugins: PluginGenerations, in pool: WorkerPool, _ inboxes: Inboxes) {
        (self.configuration, self.plugins) = (configuration, plugins)
        (self.pool, self.inboxes) = (pool, inboxes)
    }

    /// Why the configuration in force is older than the files; nil if the latest reload succeeded.
    var problem: String? {
        guard let first = problems.first else { return nil }
        let more = problems.count > 1 ? " (and \(problems.count - 1) more)" : ""
        return "the reload failed, and the previous configuration is in force: \(first)\(more)"
    }

    /// Requests a reload. Reloads run one after another. Requests that arrive during a reload share the next reload.
    package func reload(asTrial isTrial: Bool = false, _ done: @escaping Done) {
        waiting.append((isTrial, done))
        if !isReloading { reloadNext() }
    }

    private func reloadNext() {
        isReloading = !waiting.isEmpty
        guard let isTrial = waiting.first?.isTrial else { return }
        let asked = waiting.prefix { $0.isTrial == isTrial }
        waiting.removeFirst(asked.count)
        let notifies = inboxes.areOpen && !isTrial
        if notifies { ServiceManager.notifyReloading() }
        reloadNow(asTrial: isTrial) { [self] reloaded in
            if notifies { ServiceManager.notify("READY=1") }
            for caller in asked { caller.done(reloaded) }
            reloadNext()
        }
    }

    nonisolated private func reloadNow(asTrial isTrial: Bool, _ done: @escaping Done) {
        tryPlugins { [self] result in
            guard case .success(let (hello, accept)) = result else {
                if case .failure(let error) = result {
                    let problems = [Problem(file: error.program, line: nil, message: error.how)]
                    isTrial ? report(Reloaded(problems: problems), done) : refuse(problems, done)
                }
                return
            }
            let (loaded, problems) = LoadedConfiguration.load(configuration.places, hello: hello)
            accept(problems.isEmpty && !isTrial)
            guard isTrial || problems.isEmpty else { return refuse(problems, done) }
            let reloaded = Reloaded(problems: problems, skipped: loaded.skipped, hooks: loaded.refusedHooks)
            guard !isTrial else { return report(reloaded, done) }
            LastGood(loaded).keep(configuration.places)
            Coordination.async { [self] in
                self.problems = []
                let before = configuration.replace(by: loaded)
                loaded.logShortcomings(after: before)
                events?.configurationAdopted()
                done(reloaded)
            }
        }
    }

    nonisolated private func report(_ reloaded: Reloaded, _ done: @escaping Done) {
        Coordination.async { done(reloaded) }
    }

    /// Keeps the configuration in force. The status reports the problems until a reload succeeds.
    nonisolated private func refuse(_ problems: [Problem], _ done: @escaping Done) {
        for problem in problems { Log.failure("\(problem)") }
        Log.failure("nothing was changed by the reload: the configuration in force is the one from before")
        Coordination.async { [self] in
            self.problems = problems
            events?.statusChanged()
            done(Reloaded(problems: problems))
        }
    }

    /// Copies the current plugins, and loads the copies in a worker to test them. Calls `done` on `lane`, so `done` may
    /// wait for a disk.
    nonisolated private func tryPlugins(
        _ done: @escaping @Sendable (Result<(hello: Hello, accept: @Sendable (Bool) -> Void), WorkerStartError>) -> Void
    ) {
        lane.async { [self] in
            let timeout = LoadedConfiguration.settings(configuration.places).plugins.timeout
            plugins.trial(in: pool, within: timeout) { [self] result in lane.async { done(result) } }
        }
    }

    /// Called when a worker lacked a configured filter. If the filter's file still exists, the daemon assumes that the
    /// copy in use is damaged, and copies the plugins again. Calls `done` only if the new copies have the filter.
    func look(for filter: String, done: @escaping @Coordination @Sendable () -> Void) {
        guard !isReloading, let stage = configuration.now.catalog.stages.first(where: { $0.name == filter }) else {
            return
        }
        isReloading = true
        let tried = { @Sendable [self] (isThere: Bool) in
            Coordination.async { [self] in
                if isThere { done() }
                reloadNext()
            }
        }
        lane.async { [self] in
            guard stage.file.map(FileSystem.mayExist) ?? true else { return tried(false) }
            tryPlugins { result in
                guard case .success(let (hello, accept)) = result else { return tried(false) }
                let isThere = hello.filters.contains { $0.name == filter }
                accept(isThere)
                tried(isThere)
            }
        }
    }
}
