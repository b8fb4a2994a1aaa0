import DaemonRuntime
package import OperationGraph
package import PipelineModel
import ServiceProgram
import WorkerProtocol

/// Adapts queues to the daemon: operations start on the coordination queue, limits come from settings, and state
/// changes can be logged.
extension GatedQueue {
    convenience init(
        _ name: String, limit: QueueLimit, isSerial: Bool = false, automatic: @escaping @Sendable () -> Int
    ) {
        self.init(name, limit: limit.count, isSerial: isSerial, on: Coordination.queue, automatic: automatic)
    }

    package func set(_ limit: QueueLimit) { set(limit.count) }

    var nodeReport: NodeReport.Queue {
        let report = report
        return NodeReport.Queue(
            name: name, configured: report.configured, effective: report.effective, running: report.running,
            isPaused: report.paused, reason: report.reason)
    }

    /// Switches the logging of operations' state changes on or off.
    package func log(operations: Bool) {
        guard operations else { return trace(nil) }
        trace { name, subject, state in
            guard let subject = subject as? OperationSubject else { return }
            Log.notice("\(name) \(subject): \(state.rawValue)", of: subject.fields)
        }
    }
}

extension GatedQueue.Report {
    /// The reason that clients see while the pause delays a job.
    var pauseText: String { "paused" + (reason.map { ": \($0)" } ?? "") }

    /// Why no operation starts until a user intervenes; nil if operations can start.
    var obstacle: String? { paused ? pauseText : effective < 1 ? "its limit is 0" : nil }
}
