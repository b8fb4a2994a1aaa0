package import PipelineModel

/// A batch in the ledger, with the progress of its jobs.
package struct BatchRecord: Sendable {
    package var id: Int
    /// Name of the batch's list or folder, or a name given by a client.
    package var name: String?
    /// The recipe of the batch's first job.
    package var recipe: String?
    package var isOpen: Bool
    package var created: Double?
    /// The time when the daemon announced that all jobs are over.
    package var finished: Double?
    package var jobs: [JobState: Int] = [:]
    /// Counts of unfinished jobs that have reached a barrier, keyed by the number of barriers reached.
    package var reached: [Int: Int] = [:]
    /// Number of waiting jobs before the first barrier. They wait, for example, for a retry or for a dependency.
    package var waiting = 0

    package init(id: Int, name: String? = nil, isOpen: Bool) { (self.id, self.name, self.isOpen) = (id, name, isOpen) }

    private func count(_ isCounted: (JobState) -> Bool) -> Int {
        jobs.reduce(0) { isCounted($1.key) ? $0 + $1.value : $0 }
    }

    package var hasEnded: Bool { finished != nil }
    package var ended: Int { count(\.isFinal) }
    package var unended: Int { count { !$0.isFinal } }
}
