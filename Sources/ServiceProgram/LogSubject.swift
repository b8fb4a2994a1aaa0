/// The jobs, batch, recipe and so on that a log line is about. The journal stores each of them as a field; a terminal
/// shows only the line's own text.
package struct LogSubject: Sendable {
    /// Maximum number of jobs that one line stores as fields.
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
