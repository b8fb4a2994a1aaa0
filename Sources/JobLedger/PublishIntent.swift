package import PipelineModel

/// The renames that publish a job, recorded before the first of them.
package struct PublishIntent: Codable, Sendable, Hashable {
    package struct Step: Codable, Sendable, Hashable {
        package var staging: String
        package var target: String
        /// The rule for a target that is taken.
        package var conflict: ConflictPolicy

        package init(staging: String, target: String, conflict: ConflictPolicy) {
            (self.staging, self.target, self.conflict) = (staging, target, conflict)
        }
    }

    package var steps: [Step]

    package init(steps: [Step]) { self.steps = steps }
}
