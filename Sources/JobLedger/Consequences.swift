package import PipelineModel

/// How other jobs have changed because jobs ended, or because their order was changed.
package struct Consequences: Sendable {
    /// The change of the number of jobs in each state.
    package var counts: [JobState: Int] = [:]
    /// The jobs that failed because a job that they come after is not done.
    package var failed: [Int] = []
    /// The highest priority of the jobs that are queued now.
    package var released: Priority?

    var isEmpty: Bool { counts.isEmpty }

    mutating func move(_ count: Int = 1, from old: JobState, to new: JobState) {
        guard count > 0 else { return }
        counts[old, default: 0] -= count
        counts[new, default: 0] += count
    }
}
