package import PipelineModel

/// The answer to a request to add or remove dependencies.
package enum NeedsAnswer: Sendable, Equatable {
    case done
    case unknown(Int)
    /// Too late: the job has started, or is done.
    case begun(JobState)
    /// A cycle: the job would depend on itself, along this path.
    case circle([Int])
    /// The dependency has failed or was cancelled.
    case over(Int, JobState)
    /// The job does not depend on the job with this ID, so there is no dependency to remove.
    case unneeded(Int)
    /// SQLite refuses the change.
    case refused
}

/// A job's dependencies or dependents. `jobs` contains the first of them, and `count` is the total number.
package struct Neighbours: Sendable {
    package var jobs: [(id: Int, state: JobState?)]
    package var count: Int

    package init(jobs: [(id: Int, state: JobState?)], count: Int) { (self.jobs, self.count) = (jobs, count) }
}
