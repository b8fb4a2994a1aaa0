package import PipelineModel

/// Selects the jobs for a bulk change. A job must match every field that is set.
package struct JobChoice: Sendable {
    package var ids: [Int]?
    package var batch: Int?
    package var recipe: String?
    package var states: [JobState]?
    /// Queues that start no jobs at present. Clients see the queued jobs of these queues as waiting, so a choice of
    /// waiting jobs includes them.
    package var stoppedQueues: [FirstQueue]
    /// The user and the action, for the jobs' events.
    package var cause: String?

    package init(
        ids: [Int]? = nil, batch: Int? = nil, recipe: String? = nil, states: [JobState]? = nil,
        stoppedQueues: [FirstQueue] = []
    ) {
        (self.ids, self.batch, self.recipe, self.states, self.stoppedQueues) = (
            ids, batch, recipe, states, stoppedQueues
        )
    }

    package func speaks(of job: JobRecord) -> Bool {
        (ids?.contains(job.id) ?? true) && (batch.map { $0 == job.batch } ?? true)
            && (recipe.map { $0 == job.order.recipe } ?? true) && isOfState(job)
    }

    private func isOfState(_ job: JobRecord) -> Bool {
        guard let states else { return true }
        return states.contains(job.state) || (job.state == .queued && stoppedQueues.contains(job.entry))
    }
}
