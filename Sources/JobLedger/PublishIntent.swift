package import PipelineModel
package import SystemCalls

/// The renames that publish a job's results, recorded before the first of them. A redo replaces the job's earlier
/// results, and withdraws those without a replacement.
package struct PublishIntent: Codable, Sendable, Hashable {
    package struct Step: Codable, Sendable, Hashable {
        package var staging: String
        package var target: String
        /// What to do if the target exists.
        package var conflict: ConflictPolicy
        /// The staging file's identity. Nil in an intent of an older version.
        package var file: FileStatus.Identity?
        /// The identity of the earlier result at `target`, which is exchanged with the staging file. Without `file`,
        /// the earlier result is moved to `staging`.
        package var replaces: FileStatus.Identity?

        package init(
            staging: String, target: String, conflict: ConflictPolicy, file: FileStatus.Identity? = nil
        ) {
            (self.staging, self.target, self.conflict) = (staging, target, conflict)
            self.file = file?.onAnyDevice
        }
    }

    package var steps: [Step]
    /// Earlier results that stay, because a user has changed them.
    package var left: [String]?

    /// Suffix for an earlier result on a file system that can't exchange two files.
    package static let aside = ".before"

    package init(steps: [Step], left: [String] = []) {
        self.steps = steps
        self.left = left.isEmpty ? nil : left
    }
}
