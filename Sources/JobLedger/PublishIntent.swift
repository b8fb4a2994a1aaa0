package import PipelineModel
package import SystemCalls

/// The renames that publish a job, recorded before the first of them.
package struct PublishIntent: Codable, Sendable, Hashable {
    package struct Step: Codable, Sendable, Hashable {
        package var staging: String
        package var target: String
        /// The rule for a target that is taken.
        package var conflict: ConflictPolicy
        /// The marks of the staging file. Nil in an intent of an older version.
        package var file: FileStatus.Identity?

        package init(
            staging: String, target: String, conflict: ConflictPolicy, file: FileStatus.Identity? = nil
        ) {
            (self.staging, self.target, self.conflict) = (staging, target, conflict)
            self.file = file?.onAnyDevice
        }
    }

    package var steps: [Step]

    package init(steps: [Step]) { self.steps = steps }
}
