import JobLedger
package import JobModel
import PipelineModel
package import ServiceProgram
package import WorkerPools

extension LogSubject {
    package init(_ record: JobRecord, _ failure: JobFailure? = nil) {
        self.init(
            jobs: [record.id], batch: record.batch, recipe: record.order.recipe, stage: failure?.stage,
            filter: failure?.culprit ?? failure?.filter ?? failure?.stage.flatMap { Self.filter($0, of: record) },
            input: record.path)
    }

    /// Returns the stage's name if the stage is a filter in the job's work order.
    private static func filter(_ stage: String, of record: JobRecord) -> String? {
        let isBuiltIn = StageCatalog.builtIn.stages.contains { $0.name == stage }
        return !isBuiltIn && record.order.outputs.uses(filter: stage) ? stage : nil
    }
}
