package import DaemonRuntime
package import WorkerProtocol

/// Pauses, resumes and limits the queues, and cancels or drains all work.
@Coordination
package protocol QueueSteering {
    /// Executes a command. The log names `peer` as its sender.
    func execute(_ command: NodeCommand, by peer: String, done: @escaping CommandRefusal.Done)
    func queueReports() -> [QueueReport]
}

/// A queue. `waiting` is the number of waiting operations, `automatic` is the limit that `auto` gives now, and `held`
/// is the reason why operations wait although the limit allows more.
package typealias QueueReport = (queue: NodeReport.Queue, waiting: Int, automatic: Int, held: String?)
