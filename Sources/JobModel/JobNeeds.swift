package import PipelineModel

/// The answer to a request to add or remove dependencies.
package enum NeedsAnswer: Sendable, Equatable {
    case done
    case unknown(Int)
    /// The job has started or is done, so its dependencies can't change any more.
    case begun(JobState)
    /// The change would create a dependency cycle, along this path of job IDs.
    case circle([Int])
    /// The dependency has failed or was cancelled.
    case over(Int, JobState)
    /// The job does not depend on the job with this ID, so there is no dependency to remove.
    case unneeded(Int)
    /// The ledger can't be written, or SQLite rejects the change.
    case refused
}

/// A job's dependencies or dependents. `jobs` contains only the first ones; `count` is the total number.
package struct Neighbours: Sendable {
    package var jobs: [(id: Int, state: JobState?)]
    package var count: Int

    package init(jobs: [(id: Int, state: JobState?)], count: Int) { (self.jobs, self.count) = (jobs, count) }
}
