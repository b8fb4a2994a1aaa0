package import DaemonRuntime
package import JobModel
package import PipelineModel

/// Reads jobs and their history. The `nonisolated` members read the ledger.
@Coordination
package protocol JobReading {
    /// The job's current record; nil if the job is unknown.
    func currentJob(_ id: Int) throws -> JobRecord?
    /// The current records of the known jobs among these IDs, in the order of the IDs.
    func currentJobs(_ ids: [Int]) throws -> [JobRecord]
    /// Whether the job needs no more work, and its final state is recorded.
    func isOver(_ job: JobRecord) -> Bool
    /// The progress of the job's current operation; nil if no operation has begun.
    func progress(ofJob id: Int) -> ProgressReport.Figures?
    /// The ledger's records of the known jobs among these IDs.
    nonisolated func recordedJobs(_ ids: [Int]) throws -> [JobRecord]
    /// The job's state and reason, as clients see them. While a queue is paused, its queued jobs are reported as
    /// waiting. While the ledger can't be written, all queued jobs are reported as waiting. If the original can't be
    /// moved, the reason says so.
    nonisolated func standing(of job: JobRecord) -> (state: JobState, reason: String?)
    /// A page of the jobs with IDs greater than `id` that match the filter. `filter` refers to the states that clients
    /// see.
    nonisolated func list(_ filter: JobFilter, after id: Int, limit: Int) throws -> [JobRecord]
    /// The value of `after` with which `list` returns just the newest `count` matching jobs; 0 if fewer jobs match.
    nonisolated func start(ofNewest count: Int, _ filter: JobFilter) throws -> Int
    /// The IDs of the jobs that match the filter, as contiguous ranges.
    nonisolated func ids(_ filter: JobFilter) throws -> [ClosedRange<Int>]
    /// The first ID that belongs to no job, or nil.
    nonisolated func unknown(of ids: [Int]) throws -> Int?
    nonisolated func neighbours(of job: Int) throws -> (after: Neighbours, followers: Neighbours)
    /// The latest events of a job, oldest first.
    nonisolated func events(ofJob id: Int, limit: Int) throws -> [LoggedEvent]
    /// Whether the ledger has jobs of this recipe. The recipe itself may have been removed.
    nonisolated func knows(recipe: String) throws -> Bool
}
