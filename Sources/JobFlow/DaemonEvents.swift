package import DaemonRuntime
package import JobModel

/// Events that the owners of the daemon's state report to `Owners`, the object that connects these owners.
@Coordination
package protocol DaemonEvents: AnyObject {
    /// The limit of a queue has changed.
    func limitsChanged()
    func queuesPaused()
    func queuesResumed()
    /// A job has ended, and the ledger has recorded its final state. Its original has not been moved yet.
    func jobEnded(_ record: JobRecord)
    /// A bulk change in the ledger has ended `count` jobs that are not in the job queue's window. The originals of
    /// these jobs have not been moved yet.
    func jobsEndedAsRows(_ count: Int)
    func batchEnded(_ batch: Int)
    /// The ledger has refused to record new jobs.
    func jobsRefused()
    /// Reported after each of these changes: a job has left the job queue's window; a job has begun to wait; a job has
    /// been rendered; the ledger has recorded a job's new state.
    func jobRested()
    /// The state of an inbox has changed.
    func inboxChanged()
    /// A new configuration is in force.
    func configurationAdopted()
    /// Something else that `status` shows may have changed.
    func statusChanged()
}
