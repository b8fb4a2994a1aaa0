import DaemonRuntime
package import OperationGraph
package import PipelineModel

/// The daemon's queues start their operations on the coordination queue, have their limits from settings, and tell the
/// log.
extension GatedQueue {
    convenience init(
        _ name: String, limit: QueueLimit, isSerial: Bool = false, automatic: @escaping @Sendable () -> Int
    ) {
        self.init(name, limit: limit.count, isSerial: isSerial, on: Coordination.queue, automatic: automatic)
    }

    package func set(_ limit: QueueLimit) { set(limit.count) }

    /// Whether each state of an operation is a line of the log.
    package func log(operations: Bool) {
        guard operations else { return trace(nil) }
        trace { name, subject, state in
            guard let subject = subject as? OperationSubject else { return }
            Log.notice("\(name) \(subject): \(state.rawValue)", of: subject.fields)
        }
    }
}

extension GatedQueue.Report {
    /// Why a job behind the pause waits.
    var pauseText: String { "paused" + (reason.map { ": \($0)" } ?? "") }

    /// Why nothing begins until a person changes that, or nil.
    var obstacle: String? { paused ? pauseText : effective < 1 ? "its limit is 0" : nil }
}
