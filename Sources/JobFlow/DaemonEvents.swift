package import DaemonRuntime
package import JobLedger

/// What the daemon's owners tell the object that puts them together.
@Coordination
package protocol DaemonEvents: AnyObject {
    /// The limit of a queue has changed.
    func limitsChanged()
    /// A job of the window has begun to work.
    func workBegan()
    /// A job of the window has ended, and its end is recorded. Its original has not moved yet.
    func jobEnded(_ record: JobRecord)
    /// Jobs have ended as rows, in bulk. Their originals have not moved yet.
    func jobsEndedAsRows()
    func batchEnded(_ batch: Int)
    /// The ledger has refused to record new jobs.
    func jobsRefused()
    /// A job has left the window, or waits; or its end is recorded.
    func jobRested()
    /// An inbox has another state.
    func inboxChanged()
    /// Another configuration is in force.
    func configurationAdopted()
    /// Something else that `status` shows may have changed.
    func statusChanged()
}
