import PipelineModel

/// What the end of jobs, or a change of what comes after what, has done to other jobs.
struct Consequences: Sendable {
    /// How many more, or fewer, there are of a state.
    var counts: [JobState: Int] = [:]
    /// Those that failed because one that they come after has not become done.
    var failed: [Int] = []
    /// The highest priority of those that are queued now.
    var released: Priority?

    var isEmpty: Bool { counts.isEmpty }

    mutating func move(_ count: Int = 1, from old: JobState, to new: JobState) {
        guard count > 0 else { return }
        counts[old, default: 0] -= count
        counts[new, default: 0] += count
    }
}
