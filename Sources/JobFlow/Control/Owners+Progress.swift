package import DaemonInterface
import Foundation
import JobLedger
import JobModel
import OperationGraph
import PipelineModel
import ServiceProgram

/// Reports progress. Each operation keeps its own figures; a report combines them.
extension Owners {
    package func progress(of batch: Int?, limit: Int) throws -> ProgressReport? {
        let now = Timestamp.now()
        // The limit cuts off the end of the list, so jobs that wait for their next operation come last.
        let working = jobs.all.filter { $0.isInWork && (batch == nil || $0.record.batch == batch) }
            .map { JobProgress($0, at: now) }
            .sorted { ($0.current == nil ? 1 : 0, $0.job.record.id) < ($1.current == nil ? 1 : 0, $1.job.record.id) }
        let unfinished = try ledger.unfinishedBatches(limit: limit)
        let ids = batch.map { [$0] } ?? chosen(unfinished.ids, limit: limit)
        let records = try ledger.batches(Set(ids))
        if let batch, records[batch] == nil { return nil }
        let batches = Dictionary(grouping: working, by: \.job.record.batch)
        return ProgressReport(
            batches: ids.compactMap { records[$0] }.map { ($0, figures(of: $0, batches[$0.id] ?? [], at: now)) },
            others: others(than: unfinished.jobs, batches[nil] ?? [], at: now),
            jobs: working.prefix(limit).map(report),
            unfinished: batch == nil ? unfinished.count : records.values.count { !$0.hasEnded },
            running: working.count)
    }

    package func progress(ofJob id: Int) -> ProgressReport.Figures? {
        jobs[id].flatMap { $0.isInWork ? report(JobProgress($0, at: Timestamp.now())).figures : nil }
    }

    /// Chooses the batches to report: first the batches with jobs in memory, then the oldest unfinished batches.
    private func chosen(_ unfinished: [Int], limit: Int) -> [Int] {
        let present = jobs.progress.present
        let known = Set(present)
        return Array((present + unfinished.filter { !known.contains($0) }).prefix(limit))
    }

    private func report(_ working: JobProgress) -> ProgressReport.OfJob {
        let isWaiting = working.job.record.state == .waiting
        let figures = working.current.flatMap { operation, progress in
            (operation as? any Measured).map { progress.figures($0.figures.unit, isWaiting: isWaiting) }
        }
        let fraction = working.whole.fractionCompleted.share
        return (working.job.record, fraction, working.current?.operation.queue?.name, figures)
    }

    private func figures(of record: BatchRecord, _ working: [JobProgress], at now: Double) -> ProgressReport.Figures {
        let fraction = record.tree(over: working).fractionCompleted
        let all = record.ended + record.unended
        // Jobs that wait for something outside the batch don't finish at the batch's pace, so the forecast excludes
        // them.
        let left = Double(all) * (1 - fraction) - Double(record.waiting)
        let (rate, remaining) = outlook(of: jobs.progress[record.id], left, working, at: now)
        return ProgressReport.Figures(
            unit: Figures.Unit.jobs.rawValue, done: record.ended, total: all, fraction: fraction.share,
            rate: rate, remaining: record.isOpen ? nil : remaining)
    }

    /// Returns the progress of jobs without a batch. `ofBatches` is the number of unfinished jobs that have a batch.
    private func others(than ofBatches: Int, _ working: [JobProgress], at now: Double) -> ProgressReport.Figures {
        let unended = [JobState.waiting, .queued, .running, .cancelling].reduce(0) { $0 + jobs.counts[$1] }
        let (open, done) = (max(0, unended - ofBatches), Int(jobs.progress[nil]?.pace.done ?? 0))
        let begun = working.reduce(0) { $0 + $1.whole.fractionCompleted }
        let (rate, remaining) = outlook(of: jobs.progress[nil], Double(open) - begun, working, at: now)
        return ProgressReport.Figures(
            unit: Figures.Unit.jobs.rawValue, done: done, total: done + open,
            fraction: open + done == 0 ? nil : (min(1, (Double(done) + begun) / Double(done + open))).share,
            rate: rate, remaining: remaining)
    }

    /// Forecasts the rate and the remaining time. Both are nil while no job runs or a queue is paused. The remaining
    /// time is never shorter than the remaining time of the slowest running operation.
    private func outlook(
        of batch: BatchProgress?, _ left: Double, _ working: [JobProgress], at now: Double
    ) -> (rate: Double?, remaining: Double?) {
        let isPaused = isStopping || queues.render.report.paused || queues.publish.report.paused
        guard let batch, !isPaused, !(batch.downloads && queues.download.report.paused),
            working.contains(where: { $0.job.record.state == .running })
        else { return (nil, nil) }
        let longest = working.compactMap { $0.current?.progress.remaining }.max() ?? 0
        return (
            batch.pace.rate(at: now)?.figure, batch.pace.remaining(left, at: now).map { max($0, longest).figure }
        )
    }
}

extension Job {
    /// Whether the job's first operation has started.
    fileprivate var isInWork: Bool { (download ?? render).hasBegun }
}

extension Progress {
    fileprivate var remaining: Double? { userInfo[.estimatedTimeRemainingKey] as? Double }

    fileprivate func figures(_ unit: Figures.Unit, isWaiting: Bool) -> ProgressReport.Figures {
        let rate = userInfo[.throughputKey] as? Double
        return ProgressReport.Figures(
            unit: unit.rawValue, done: Int(completedUnitCount), total: isIndeterminate ? nil : Int(totalUnitCount),
            fraction: isIndeterminate ? nil : fractionCompleted.share, rate: isWaiting ? nil : rate?.figure,
            remaining: isWaiting ? nil : remaining?.figure)
    }
}

extension Double {
    /// Returns the value rounded to three decimals.
    fileprivate var figure: Double { (self * 1000).rounded() / 1000 }
    /// Returns the value rounded down to five decimals, so that 1 always means complete.
    fileprivate var share: Double { (self * 100_000).rounded(.down) / 100_000 }
}
