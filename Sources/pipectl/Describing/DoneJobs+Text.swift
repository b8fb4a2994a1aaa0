import PipelineControl

/// Phrases for `pipectl redo` and `pipectl undo`.
struct DoneWords {
    /// `would be undone`, which follows the number of jobs in a dry run.
    let would: String
    let none: String
    /// `undone 3 jobs`, where `count` is `3 jobs`.
    let does: @Sendable (_ count: String) -> String

    static let redo = DoneWords(
        would: "would be processed again", none: "nothing to process again", does: { "processing \($0) again" })
    static let undo = DoneWords(would: "would be undone", none: "nothing to undo", does: { "undone \($0)" })
}

extension Context {
    /// Prints the chosen jobs, the refused jobs with their reasons, and the remarks.
    func print(
        _ jobs: [Int], _ refused: [Control.Tally], _ remarks: [Control.Tally], _ words: DoneWords
    ) throws {
        let isAsking = invocation.has(.doneDryRun)
        let count = Amount.counted(jobs.count, "job")
        let done = jobs.isEmpty ? words.none : words.does(count) + jobs.few
        try output.line(Text(isAsking ? "\(count) \(words.would)" : done))
        let verb = isAsking ? "could not be" : "can't be"
        for tally in refused {
            try output.line("\(tally.jobs) \(verb): \(tally.reason)\(tally.first.few(of: tally.jobs))")
        }
        for tally in remarks { try output.line("\(tally.jobs): \(tally.reason)\(tally.first.few(of: tally.jobs))") }
    }
}

extension [Int] {
    /// `: #1 #2`; empty if there are no IDs or more than ten.
    var few: String { isEmpty || count > 10 ? "" : ": " + map { "#\($0)" }.joined(separator: " ") }

    /// ` (#1 #2 …)`. `all` is the number of all jobs. The ellipsis stands for the jobs that are not listed.
    fileprivate func few(of all: Int) -> String {
        " (" + map { "#\($0)" }.joined(separator: " ") + (all > count ? " …)" : ")")
    }
}

extension [Control.Tally] {
    /// Merges the tallies of another call by reason; the highest count comes first.
    mutating func add(_ others: [Control.Tally]) {
        for other in others {
            if let index = firstIndex(where: { $0.reason == other.reason }) {
                self[index].jobs += other.jobs
                self[index].first = [Int]((self[index].first + other.first).prefix(5))
            } else {
                append(other)
            }
        }
        sort { ($1.jobs, $0.reason) < ($0.jobs, $1.reason) }
    }
}
