import DaemonRuntime
import Dispatch
import OperationGraph
import PipelineModel
import SystemCalls
import WorkerPools
import WorkerProtocol

/// The outcome of a reload.
struct Reloaded: Sendable {
    /// If there are any, nothing was changed.
    var problems: [Problem] = []
    /// The plugins left out of those now in use.
    var skipped: [SkippedPlugin] = []
}

/// Configuration and plugins are read again: all of it counts, or, with problems, none.
extension Supervisor {
    /// One after the other; those who ask while one is under way share the next.
    func reload(_ done: @escaping @Coordination @Sendable (Reloaded) -> Void) {
        reloads.append(done)
        if !isReloading { reloadNext() }
    }

    private func reloadNext() {
        let asked = reloads
        reloads = []
        isReloading = !asked.isEmpty
        guard isReloading else { return }
        if isReady { ServiceManager.tellReloading() }
        reloadNow { [self] reloaded in
            Coordination.async { [self] in
                if isReady { ServiceManager.tell("READY=1") }
                for done in asked { done(reloaded) }
                reloadNext()
            }
        }
    }

    private func reloadNow(_ done: @escaping @Sendable (Reloaded) -> Void) {
        tryPlugins { [self] result in
            guard case .success(let (hello, accept)) = result else {
                if case .failure(let error) = result {
                    refuse([Problem(file: error.program, line: nil, message: error.how)], done)
                }
                return
            }
            let (loaded, problems) = LoadedConfiguration.load(places, hello: hello)
            accept(problems.isEmpty)
            guard problems.isEmpty else { return refuse(problems, done) }
            Coordination.async { [self] in
                reloadProblems = []
                adopt(loaded)
                done(Reloaded(skipped: loaded.skipped))
            }
        }
    }

    /// What was in force stays so, and that is said until a reload succeeds.
    nonisolated private func refuse(_ problems: [Problem], _ done: @escaping @Sendable (Reloaded) -> Void) {
        for problem in problems { Log.failure("\(problem)") }
        Log.failure("nothing was changed by the reload: the configuration in force is the one from before")
        Coordination.async { [self] in
            reloadProblems = problems
            tellChange()
            done(Reloaded(problems: problems))
        }
    }

    private func adopt(_ loaded: LoadedConfiguration) {
        let before = current
        current = loaded
        loaded.logShortcomings(after: before)
        for (queue, limit) in [
            (download, settings.download), (render, settings.render), (publish, settings.publish),
        ] {
            queue.set(liveLimits[queue.name] ?? limit)
        }
        applyLimits()
        openInboxes()
        disposeBacklog()
        forgiveFilters()
        lookForRoom()
        forgetOld(ended: 0)
        ledger.append(LoggedEvent(kind: "settings", text: "reloaded"))
        Log.notice("configuration and plugins were read again")
        fill()
    }

    /// Makes copies of the plugins as they are now and tries them; what is handed over is on a queue of files' work. One at a time.
    nonisolated private func tryPlugins(
        _ done: @escaping @Sendable (Result<(hello: Hello, accept: @Sendable (Bool) -> Void), WorkerStartError>) -> Void
    ) {
        files.async { [self] in
            plugins.trial(in: pool, within: LoadedConfiguration.settings(places).plugins.timeout) { [self] result in
                files.async { done(result) }
            }
        }
    }

    /// A worker did not have a filter that is configured: its copy is damaged. Others are made, if its file is there.
    func lookForFilter(_ name: String) {
        guard !isReloading, let stage = current.catalog.stages.first(where: { $0.name == name }) else { return }
        isReloading = true
        files.async { [self] in
            guard stage.file.map(FileSystem.mayExist) ?? true else { return tried(name, false) }
            tryPlugins { [self] result in
                guard case .success(let (hello, accept)) = result else { return tried(name, false) }
                let isThere = hello.filters.contains { $0.name == name }
                accept(isThere)
                tried(name, isThere)
            }
        }
    }

    nonisolated private func tried(_ filter: String, _ isThere: Bool) {
        Coordination.async { [self] in
            if isThere { goOn(.filter(filter)) }
            reloadNext()
        }
    }
}
