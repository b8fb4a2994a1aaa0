package import DaemonRuntime
package import WorkerProtocol

/// Pauses, resumes and limits the queues, and cancels or drains all work.
@Coordination
package protocol QueueSteering {
    /// Executes a command. The log names `peer` as its sender.
    func execute(_ command: NodeCommand, by peer: String, done: @escaping CommandRefusal.Done)
    func queueReports() -> [QueueReport]
}

/// A queue with the number of operations that wait for their turn, and the limit that `auto` gives now.
package typealias QueueReport = (queue: NodeReport.Queue, waiting: Int, automatic: Int, held: String?)
