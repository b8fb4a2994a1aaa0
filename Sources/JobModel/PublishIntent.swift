package import PipelineModel
package import SystemCalls

/// The renames that publish a job's results. The ledger records them before the first rename. In a redo, the new
/// results replace the job's earlier results, and earlier results without a replacement are withdrawn.
package struct PublishIntent: Codable, Sendable, Hashable {
    package struct Step: Codable, Sendable, Hashable {
        package var staging: String
        package var target: String
        /// The policy to apply if the target exists.
        package var conflict: ConflictPolicy
        /// The staging file's identity. Nil in a withdrawal, and in an intent that an older version recorded.
        package var file: FileStatus.Identity?
        /// In a redo, the identity of the earlier result at `target`. The earlier result and the staging file exchange
        /// places. If `file` is nil, the earlier result is withdrawn: it moves to `staging`.
        package var replaces: FileStatus.Identity?
        /// Whether the step withdraws an earlier result, from `target` to `staging`, without replacing it.
        package var isWithdrawal: Bool { replaces != nil && file == nil }

        package init(
            staging: String, target: String, conflict: ConflictPolicy, file: FileStatus.Identity? = nil
        ) {
            (self.staging, self.target, self.conflict) = (staging, target, conflict)
            self.file = file?.onAnyDevice
        }
    }

    package var steps: [Step]
    /// Earlier results that stay in the outbox, because a user has changed them.
    package var left: [String]?

    /// The number of results to publish.
    package var resultCount: Int { steps.count { !$0.isWithdrawal } }

    /// Suffix for the path of an earlier result during an exchange, if the file system can't exchange two files
    /// atomically.
    package static let aside = ".before"

    package init(steps: [Step], left: [String] = []) {
        self.steps = steps
        self.left = left.isEmpty ? nil : left
    }
}
