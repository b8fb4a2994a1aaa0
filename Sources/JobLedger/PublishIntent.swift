package import PipelineModel
package import SystemCalls

/// The renames that publish a job, recorded before the first of them. A job that was done before replaces its results of
/// before, and withdraws the others.
package struct PublishIntent: Codable, Sendable, Hashable {
    package struct Step: Codable, Sendable, Hashable {
        package var staging: String
        package var target: String
        /// The rule for a target that is taken.
        package var conflict: ConflictPolicy
        /// The marks of the staging file. Nil in an intent of an older version.
        package var file: FileStatus.Identity?
        /// The marks of the job's result of before at `target`, which changes places with the staging file. Without
        /// `file` it is moved there.
        package var replaces: FileStatus.Identity?

        package init(
            staging: String, target: String, conflict: ConflictPolicy, file: FileStatus.Identity? = nil
        ) {
            (self.staging, self.target, self.conflict) = (staging, target, conflict)
            self.file = file?.onAnyDevice
        }
    }

    package var steps: [Step]
    /// The results of before that stay, because somebody has changed them.
    package var left: [String]?

    /// Ends the name of a result of before on a file system that can't exchange two files.
    package static let aside = ".before"

    package init(steps: [Step], left: [String] = []) {
        self.steps = steps
        self.left = left.isEmpty ? nil : left
    }
}
