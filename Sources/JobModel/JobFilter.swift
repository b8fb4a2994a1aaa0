package import PipelineModel

/// The criteria of a job list. A job must match every criterion that is set.
package struct JobFilter: Sendable {
    package var states: [JobState]
    /// Queues that start no jobs at present. Their queued jobs count as waiting.
    package var stoppedQueues: [FirstQueue] = []
    package var recipe: String?
    package var batch: Int?
    /// Earliest end time of a job, or earliest creation time if the job has not ended.
    package var since: Double?
    package var until: Double?
    /// The path of the original, or of a folder that contains it.
    package var place: String?
    /// Exclusive upper bound of the job IDs.
    package var before: Int?

    package init(
        states: [JobState] = [], recipe: String? = nil, batch: Int? = nil, since: Double? = nil, until: Double? = nil,
        place: String? = nil, before: Int? = nil
    ) {
        (self.states, self.recipe, self.batch, self.since, self.until) = (states, recipe, batch, since, until)
        (self.place, self.before) = (place, before)
    }
}
