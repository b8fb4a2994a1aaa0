package import DaemonRuntime
package import Foundation
package import JobLedger
package import PipelineModel

/// A batch that has jobs in the jobs. The jobs without a batch count as one batch.
@Coordination
package final class BatchProgress {
    /// Its jobs in the window, until their end is recorded.
    private(set) var inWindow = 0
    /// Jobs that have ended since the first job of the batch entered the jobs.
    package private(set) var pace = Pace(.jobs)
    /// Whether some of its jobs had a download.
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

    /// Restarts the measurement after a pause: the earlier pace says nothing.
    func resumed() { if pace.hasBegun { pace.begin(at: Timestamp.now()) } }
}

extension BatchRecord {
    /// The batch as a tree of Foundation's `Progress`, with its jobs in work as children. The ledger's figures cover
    /// all other jobs, which need no objects.
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
