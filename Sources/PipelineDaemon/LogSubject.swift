import PipelineModel

/// What a line of the log is about. On a terminal the line says it; the journal keeps each as a field of its own.
struct LogSubject: Sendable {
    /// Far more than anybody looks for in one line.
    private static let mostJobs = 64

    var jobs: [Int] = []
    var batch: Int?
    var recipe: String?
    var stage: String?
    var filter: String?
    /// The picture, as it is called in its inbox.
    var input: String?

    var fields: [(name: String, value: String)] {
        let fields = [
            ("BATCH", batch.map { "\($0)" }), ("RECIPE", recipe), ("STAGE", stage), ("FILTER", filter),
            ("INPUT", input),
        ]
        return jobs.prefix(Self.mostJobs).map { ("JOB", "\($0)") }
            + fields.compactMap { name, value in value.map { (name, $0) } }
    }
}

extension LogSubject {
    init(_ record: JobRecord, _ failure: JobFailure? = nil) {
        self.init(
            jobs: [record.id], batch: record.batch, recipe: record.order.recipe, stage: failure?.stage,
            filter: failure?.culprit ?? failure?.filter ?? failure?.stage.flatMap { Self.filter($0, of: record) },
            input: record.path)
    }

    /// A stage is named, which may be a filter.
    private static func filter(_ stage: String, of record: JobRecord) -> String? {
        let isBuiltIn = StageCatalog.builtIn.stages.contains { $0.name == stage }
        return !isBuiltIn && record.order.outputs.uses(filter: stage) ? stage : nil
    }
}
