import DaemonRuntime
import JobLedger
import OperationGraph
import PipelineModel

/// `auto` follows the processors that the service may use. Nobody tells when they change, so it is looked now and then: while there is
/// work, and whenever somebody asks how things stand.
extension Supervisor {
    private static let interval = Duration.seconds(2)

    func lookAtProcessors() {
        guard render.followAutomatic() else { return }
        applyLimits()
        let limit = render.report.effective
        Log.notice("the processors that may be used have changed: now \(limit) at once in queue \(render.name)")
        ledger.append(LoggedEvent(kind: "queue", queue: render.name, text: "limit auto: \(limit)"))
    }

    /// Looks now, and again as long as there is something in the window.
    func followProcessors() {
        guard !followsProcessors else { return }
        followsProcessors = true
        lookAtProcessors()
        Coordination.after(Self.interval) { [self] in
            followsProcessors = false
            if !window.isEmpty, !stopping, !render.report.paused { followProcessors() }
        }
    }
}
