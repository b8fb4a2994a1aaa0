import DaemonInterface
package import DaemonRuntime
import PictureFiles
import PipelineModel
import SystemCalls
import WorkerPools
import WorkerProtocol

/// Checks several nodes in parallel, until every node has an outcome, or until the client disconnects and `cancel` is
/// called.
@Coordination
package final class FleetCheck {
    private let pool: WorkerPool
    private let settings: Settings
    private let state: () -> FleetState
    private let done: @Coordination ([String: NodeCheckOutcome]) -> Void
    private var waiting: [String] = []
    private var running: [String: NodeCheck] = [:]
    private var outcomes: [String: NodeCheckOutcome] = [:]

    /// Maximum parallel checks; each check holds two files open.
    private static let most = 32

    init(
        _ pool: WorkerPool, _ settings: Settings, _ state: @escaping () -> FleetState,
        done: @escaping @Coordination ([String: NodeCheckOutcome]) -> Void
    ) {
        (self.pool, self.settings, self.state, self.done) = (pool, settings, state, done)
    }

    func begin(_ nodes: [String]) {
        waiting = nodes.reversed()
        goOn()
    }

    /// Cancels all checks, so that no test picture stays lent.
    package func cancel() {
        waiting = []
        for check in running.values { check.cancel() }
    }

    private func goOn() {
        while running.count < Self.most, let node = waiting.popLast() { check(node) }
        if running.isEmpty { done(outcomes) }
    }

    private func check(_ name: String) {
        guard let node = state().nodes.first(where: { $0.name == name }) else { return outcomes[name] = .silent }
        guard node.version == Release.version else { return outcomes[name] = .otherVersion(node.version) }
        let check = NodeCheck(name, pool, settings) { [self] outcome in
            running[name] = nil
            outcomes[name] = outcome
            if case .noPlace = outcome, !state().present.contains(name) { outcomes[name] = .silent }
            goOn()
        }
        running[name] = check
        check.begin()
    }
}
