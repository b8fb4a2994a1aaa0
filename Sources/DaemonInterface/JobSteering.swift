package import DaemonRuntime
package import JobModel
package import PipelineModel

/// Changes jobs that have not ended, and retries jobs that failed or were cancelled.
@Coordination
package protocol JobSteering {
    /// Cancels the chosen jobs, and the settling files that the choice includes. Calls `done` once none of these jobs
    /// runs any more. `left` explains which inboxes could not cancel their files.
    func cancel(
        _ choice: JobChoice, done: @escaping @Coordination @Sendable (_ cancelled: Int, _ left: String?) -> Void)
    /// Calls `done` with the number of jobs that now have this priority.
    func prioritise(_ choice: JobChoice, _ priority: Priority, done: @escaping Done<Int>)
    /// Changes the dependencies of a job that has not begun.
    func depend(_ id: Int, after others: [Int], remove: [Int], anyway: Bool, done: @escaping Done<NeedsAnswer>)
    /// The first of these jobs that would fail immediately if it were retried, because its dependency `after` is unmet.
    /// `state` is the dependency's state; nil if the dependency is unknown. A dependency that is in `ids`, or whose
    /// state is in `states`, is no obstacle, because the caller retries the dependency, too.
    nonisolated func hindered(
        of ids: [Int], bringingBack states: [JobState]
    ) throws -> (job: Int, after: Int, state: JobState?)?
    /// Retries the jobs in `records`, and all jobs in one of `states`. Also queues the jobs in `early`, which wait for
    /// a scheduled retry. If `early` is nil, queues all jobs that wait for a scheduled retry. `batch` restricts
    /// everything except `records` to the jobs of one batch.
    func retry(
        _ records: [JobRecord], early: [Int]?, _ states: [JobState], of batch: Int?, done: @escaping Done<RetryOutcome>)
}

/// The outcome of a request to retry jobs, so far.
package struct RetryOutcome: Sendable {
    package var ids: [Int]
    /// The read error that stopped the search for jobs early.
    package var unread: (any Error)?
    /// The first few jobs that could not be retried, each with the reason.
    package private(set) var lost: [String] = []
    package private(set) var lostCount = 0

    package init(ids: [Int]) { self.ids = ids }

    package mutating func lose(_ job: Int, _ why: Any) {
        lostCount += 1
        if lost.count < 3 { lost.append("job \(job): \(why)") }
    }
}
