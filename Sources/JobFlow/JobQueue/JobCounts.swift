package import PipelineModel

/// Number of jobs in each state, kept in memory so that no query has to count the ledger's rows.
package struct JobCounts {
    private var counts: [JobState: Int]

    init(_ counts: [JobState: Int] = [:]) { self.counts = counts }

    package subscript(state: JobState) -> Int { counts[state] ?? 0 }

    /// Whether any job is unfinished.
    var isBusy: Bool { unended > 0 }
    package var unended: Int { JobState.allCases.reduce(0) { $1.isFinal ? $0 : $0 + max(0, self[$1]) } }

    mutating func add(_ count: Int = 1, to state: JobState) { counts[state, default: 0] += count }

    mutating func move(_ count: Int = 1, from old: JobState, to new: JobState) {
        add(-count, to: old)
        add(count, to: new)
    }

    mutating func add(_ changes: [JobState: Int], times factor: Int = 1) {
        for (state, count) in changes { add(factor * count, to: state) }
    }
}
