package import JobModel
import PipelineModel
import SystemCalls

/// Checks whether done jobs can be processed again, or undone. The checks block on the disks of the jobs' originals and
/// results.
package struct DoneCheck: Sendable {
    package let originals: OriginalPlaces

    package init(originals: OriginalPlaces) {
        self.originals = originals
    }

    /// Why the job can't be processed again; nil if it can. The text names no job, so that jobs with the same obstacle
    /// can be counted together.
    package func obstacle(toRedoing job: JobRecord) -> String? {
        if let obstacle = Self.obstacle(job) { return obstacle }
        return looked(for: job) { there in
            guard let there else { return Self.missing }
            return job.isUnchangedOriginal(there) ? nil : Self.otherFile
        }
    }

    /// The obstacle if somebody has replaced or changed the original. The daemon leaves such a file alone.
    static let otherFile = "another file lies where its original was, or somebody has changed it"
    private static let missing = "its original is no longer in its place"

    /// Why the job can't be undone; nil if it can.
    package func obstacle(toUndoing job: JobRecord) -> String? {
        if let obstacle = Self.obstacle(job) { return obstacle }
        if !job.disposed { return "its original is still being moved; try again" }
        if job.outputs.contains(where: { $0.file == nil }) {
            return "an older version published its results, so nobody can tell whether they have been changed"
        }
        return looked(for: job) { there in
            guard let there else { return Self.missing }
            return job.isUnchangedOriginal(there) || job.origin == .kept ? nil : Self.otherFile
        }
    }

    /// Whether somebody may have changed a result of the job. A redo would leave such a result in the outbox, beside
    /// its successor.
    package func hasChangedResults(_ job: JobRecord) -> Bool {
        job.outputs.contains { [.changed, .unknown].contains((try? $0.standing()) ?? .unknown) }
    }

    private func looked(for job: JobRecord, _ judged: (FileStatus.Identity?) -> String?) -> String? {
        do {
            return judged(try originals.status(job.source, of: job)?.identity)
        } catch {
            return "the disk of its original can't be read"
        }
    }

    private static func obstacle(_ job: JobRecord) -> String? {
        if job.former != nil { return "it is being processed again already" }
        if job.state == .failed || job.state == .cancelled {
            return "it is not done, but \(job.state.rawValue); `pipectl retry` brings it back"
        }
        if job.state != .done { return "it is not done yet" }
        if job.returns != nil { return "it is being brought back already" }
        if job.isList { return "it was a list of URLs, which has no results of its own" }
        if job.removed != nil { return "its original was removed, by `pipectl clean` or [Keep]" }
        return job.removesOriginal ? "its original was deleted when it was done (Original=delete)" : nil
    }
}
