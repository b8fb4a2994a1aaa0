package import DaemonRuntime
package import WorkerProtocol

/// Pauses, resumes and limits the queues, and cancels or drains all work.
@Coordination
package protocol QueueSteering {
    /// Executes a command. The log names `peer` as its sender.
    func obey(_ command: NodeCommand, by peer: String, done: @escaping CommandRefusal.Done)
    func queueReports() -> [QueueReport]
}

package struct QueueReport: Sendable {
    package var name: String
    /// The limit in the settings; nil if it is automatic.
    package var configured: Int?
    package var effective: Int
    package var running: Int
    package var waiting: Int
    package var isPaused: Bool
    package var reason: String?
    /// The limit that `auto` gives now.
    package var automatic: Int

    package init(
        name: String, configured: Int?, effective: Int, running: Int, waiting: Int, isPaused: Bool, reason: String?,
        automatic: Int
    ) {
        (self.name, self.configured, self.effective, self.running) = (name, configured, effective, running)
        (self.waiting, self.isPaused, self.reason, self.automatic) = (waiting, isPaused, reason, automatic)
    }
}
