/// The subject of a line of the log. On a terminal the line names it; the journal keeps each part as a field of its
/// own.
package struct LogSubject: Sendable {
    /// Far more than anybody searches for in one line.
    private static let mostJobs = 64

    package var jobs: [Int] = []
    package var batch: Int?
    package var recipe: String?
    package var stage: String?
    package var filter: String?
    /// The picture's name in its inbox.
    package var input: String?

    package init(
        jobs: [Int] = [], batch: Int? = nil, recipe: String? = nil, stage: String? = nil, filter: String? = nil,
        input: String? = nil
    ) {
        (self.jobs, self.batch, self.recipe, self.stage, self.filter) = (jobs, batch, recipe, stage, filter)
        self.input = input
    }

    var fields: [(name: String, value: String)] {
        let fields = [
            ("BATCH", batch.map { "\($0)" }), ("RECIPE", recipe), ("STAGE", stage), ("FILTER", filter),
            ("INPUT", input),
        ]
        return jobs.prefix(Self.mostJobs).map { ("JOB", "\($0)") }
            + fields.compactMap { name, value in value.map { (name, $0) } }
    }
}
