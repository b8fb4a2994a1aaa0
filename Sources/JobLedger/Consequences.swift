package import PipelineModel

/// The effects of one write on other jobs: the dependents that it queued, failed or made wait.
package struct Consequences: Sendable {
    /// Change in the number of jobs in each state.
    package var counts: [JobState: Int] = [:]
    /// Jobs that failed because a dependency failed, was cancelled or is unknown.
    package var failed: [Int] = []
    /// Highest priority among the newly queued jobs.
    package var released: Priority?

    var isEmpty: Bool { counts.isEmpty }

    mutating func move(_ count: Int = 1, from old: JobState, to new: JobState) {
        guard count > 0 else { return }
        counts[old, default: 0] -= count
        counts[new, default: 0] += count
    }
}
