package import DaemonRuntime
package import Foundation
package import JobLedger
package import PipelineModel

/// A batch of which something is in the window; the jobs that belong to none count as one, too.
@Coordination
package final class BatchProgress {
    /// Its jobs in the window, until their end is recorded.
    private(set) var inWindow = 0
    /// Jobs that have ended since the first of it came into the window.
    package private(set) var pace = Pace(.jobs)
    /// Something of it was to be downloaded.
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

    /// After a pause: how fast it was before says nothing.
    func resumed() { if pace.hasBegun { pace.begin(at: Timestamp.now()) } }
}

extension BatchRecord {
    /// The batch as a tree of Foundation's `Progress`: the jobs in work below it. All others are figures of the ledger, and cost no object.
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
