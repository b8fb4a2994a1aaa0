package import DaemonRuntime
package import Foundation
package import JobModel
package import PipelineModel
import ServiceProgram

/// The progress of a batch that has jobs in the window of the job queue. Jobs without a batch are treated as one batch.
@Coordination
package final class BatchProgress {
    /// Number of the batch's jobs in the window. A job counts until its new state is recorded.
    private(set) var inWindow = 0
    /// The rate at which jobs of the batch end, measured from the start of the first job that ended.
    package private(set) var pace = Pace(.jobs)
    /// Whether any job of the batch has needed a download.
    package private(set) var downloads = false

    func entered(_ job: Job) {
        inWindow += 1
        if job.download != nil { downloads = true }
    }

    package func left(_ record: JobRecord) {
        inWindow -= 1
        guard record.state.isFinal else { return }
        let now = Timestamp.now()
        if !pace.hasBegun { pace.begin(at: record.started ?? now) }
        pace.take(pace.done + 1, at: now)
    }

    /// Restarts the measurement after a pause, because the earlier pace is no longer valid.
    func resumed() { if pace.hasBegun { pace.begin(at: Timestamp.now()) } }
}

extension BatchRecord {
    /// Returns the batch's progress as a tree of Foundation's `Progress` objects. The children are `jobs`, the jobs in
    /// progress. The ledger's counts cover all other jobs of the batch, so these need no objects.
    @Coordination
    package func tree(over jobs: [JobProgress]) -> Progress {
        let all = ended + unended
        let tree = Progress.discreteProgress(totalUnitCount: Int64(max(1, all)) * JobProgress.units)
        let segments = max(jobs.map(\.job.segments).max() ?? 1, (reached.keys.max() ?? 0) + 1)
        var done = Int64(ended) * JobProgress.units
        for (segment, count) in reached {
            let rows = max(0, count - jobs.count { $0.job.record.segment == segment })
            done += Int64(rows) * JobProgress.reached(segment, of: segments)
        }
        tree.completedUnitCount = min(done, Int64(max(0, all - jobs.count)) * JobProgress.units)
        for job in jobs { tree.addChild(job.whole, withPendingUnitCount: JobProgress.units) }
        return tree
    }
}
