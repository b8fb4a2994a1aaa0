import Foundation
import PipelineModel

/// A batch of which something is in the window, or that somebody asks about; the jobs that belong to none count as one, too.
/// Lives on the supervisor's queue.
final class BatchProgress {
    /// Its jobs in the window, until their end is recorded.
    var inWindow = 0
    /// Jobs that have ended since the first of it came into the window.
    private(set) var pace = Pace(.jobs)
    /// How many pieces its barriers cut a job into, as far as is known.
    private(set) var segments = 1
    /// Something of it was to be downloaded.
    private(set) var downloads = false
    /// Foundation's tree: the jobs in work below it. All others are figures of the ledger, and cost no object.
    private(set) lazy var whole = Progress.discreteProgress(totalUnitCount: 0)
    private var jobs: [Int: JobProgress] = [:]

    func entered(_ job: Job) {
        inWindow += 1
        segments = max(segments, job.record.segment + 1)
        if job.download != nil { downloads = true }
    }

    func left(_ record: JobRecord) {
        inWindow -= 1
        // Foundation knows no other way out: what is complete is let go of. Its units are the ledger's to count from now on.
        if let node = jobs.removeValue(forKey: record.id) {
            node.whole.completedUnitCount = node.whole.totalUnitCount
        }
        guard record.state.isFinal else { return }
        let now = Timestamp.now()
        if !pace.hasBegun { pace.begin(at: record.started ?? now) }
        pace.take(pace.done + 1, at: now)
    }

    /// After a pause: how fast it was before says nothing.
    func resumed() { if pace.hasBegun { pace.begin(at: Timestamp.now()) } }

    /// The tree of a job in work, up to date.
    func tree(of job: Job, at time: Double) -> JobProgress {
        if let known = jobs[job.record.id] {
            known.update(at: time)
            return known
        }
        let new = JobProgress(job)
        segments = max(segments, job.record.plan.segments.count)
        jobs[job.record.id] = new
        whole.addChild(new.whole, withPendingUnitCount: JobProgress.units)
        return new
    }

    /// Brings the ledger's figures into the tree; the trees of its jobs are up to date.
    func update(_ record: BatchRecord) {
        let all = Int64(record.jobs.values.reduce(0, +))
        let segments = max(segments, (record.reached.keys.max() ?? 0) + 1)
        var done = Int64(record.ended) * JobProgress.units
        for (segment, count) in record.reached {
            let rows = count - jobs.values.count { $0.segment == segment }
            done += Int64(max(0, rows)) * JobProgress.reached(segment, of: segments)
        }
        whole.totalUnitCount = all * JobProgress.units
        whole.completedUnitCount = done
    }

    var fraction: Double { min(1, max(0, whole.fractionCompleted)) }
}
