/// Counts jobs by reason.
package struct Tally: Sendable {
    package struct Entry: Sendable {
        package var reason: String
        package var jobs: Int
        /// IDs of the first few jobs.
        package var first: [Int]
    }

    private var entries: [String: Entry] = [:]

    package init() {}

    package mutating func add(_ reason: String, _ job: Int) {
        var entry = entries[reason] ?? Entry(reason: reason, jobs: 0, first: [])
        entry.jobs += 1
        if entry.first.count < 5 { entry.first.append(job) }
        entries[reason] = entry
    }

    /// The entries, most frequent reason first.
    package var sorted: [Entry] { entries.values.sorted { ($1.jobs, $0.reason) < ($0.jobs, $1.reason) } }
}
