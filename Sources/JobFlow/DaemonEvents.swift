package import DaemonRuntime
package import JobModel

/// Events that the owners of the daemon's state report to `Owners`, the object that composes them.
@Coordination
package protocol DaemonEvents: AnyObject {
    /// The limit of a queue has changed.
    func limitsChanged()
    func queuesPaused()
    func queuesResumed()
    /// A job has ended, and the ledger has recorded its final state. Its original has not been moved yet.
    func jobEnded(_ record: JobRecord)
    /// A bulk change has ended jobs in the ledger that the job queue has not loaded into its window. Their originals
    /// have not been moved yet.
    func jobsEndedAsRows(_ count: Int)
    func batchEnded(_ batch: Int)
    /// The ledger has refused to record new jobs.
    func jobsRefused()
    /// A job has left the job queue's window, has begun to wait, or has been rendered, or the ledger has recorded its
    /// new state.
    func jobRested()
    /// The state of an inbox has changed.
    func inboxChanged()
    /// A new configuration is in force.
    func configurationAdopted()
    /// Something else that `status` shows may have changed.
    func statusChanged()
}
