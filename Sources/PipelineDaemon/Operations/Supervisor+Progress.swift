import DaemonRuntime
import Foundation
import JobLedger
import OperationGraph
import PipelineControl
import PipelineModel

/// How far the work is. Operations keep their figures themselves; here they are put together, when somebody asks.
extension Supervisor {
    /// A job has come into the window.
    func entered(_ job: Job) {
        let batch = batchProgress[job.record.batch] ?? BatchProgress()
        batchProgress[job.record.batch] = batch
        batch.entered(job)
    }

    /// A job has left the window, and that is recorded.
    func left(_ record: JobRecord) {
        guard let batch = batchProgress[record.batch] else { return }
        batch.left(record)
        if batch.inWindow == 0 { batchProgress[record.batch] = nil }
    }

    /// The progress of one batch, or of all that is going on.
    func progress(of batch: Int?) throws(ControlError) -> Call.Progress.Reply {
        let now = Timestamp.now()
        // Those that wait for their next operation come last, where they are left out first.
        let working = window.all.filter { $0.isInWork && (batch == nil || $0.record.batch == batch) }
            .map { JobProgress($0, at: now) }
            .sorted { ($0.current == nil ? 1 : 0, $0.job.record.id) < ($1.current == nil ? 1 : 0, $1.job.record.id) }
        do {
            let unfinished = try ledger.unfinishedBatches(limit: ControlInterface.mostProgress)
            let ids = batch.map { [$0] } ?? chosen(unfinished.ids)
            let records = try ledger.batches(Set(ids))
            if let batch, records[batch] == nil {
                throw Self.noSuchBatch(batch)
            }
            let batches = Dictionary(grouping: working, by: \.job.record.batch)
            return Call.Progress.Reply(
                batches: ids.compactMap { records[$0] }.map { record in
                    Control.BatchProgress(
                        batch: record.shown, progress: shown(record, batches[record.id] ?? [], at: now))
                },
                others: others(than: unfinished.jobs, batches[nil] ?? [], at: now),
                jobs: working.prefix(ControlInterface.mostProgress).map(shown),
                unfinished: batch == nil ? unfinished.count : records.values.count { !$0.hasEnded },
                running: working.count)
        } catch let error as ControlError {
            throw error
        } catch {
            throw .refused("\(error)")
        }
    }

    /// The batches with something in the window first, then the oldest.
    private func chosen(_ unfinished: [Int]) -> [Int] {
        let present = batchProgress.keys.compactMap(\.self).sorted()
        let known = Set(present)
        return Array((present + unfinished.filter { !known.contains($0) }).prefix(ControlInterface.mostProgress))
    }

    /// The figures of the operation of this job that works now.
    func current(of id: Int) -> Control.Progress? {
        window[id].flatMap { $0.isInWork ? shown(JobProgress($0, at: Timestamp.now())).progress : nil }
    }

    private func shown(_ working: JobProgress) -> Control.JobProgress {
        let isHeld = working.job.record.state == .waiting
        return Control.JobProgress(
            job: shown(working.job.record), fraction: working.whole.fractionCompleted.share,
            operation: working.current?.operation.queue?.name,
            progress: working.current.flatMap { operation, progress in
                (operation as? any Measured).map { progress.shown($0.figures.unit, isHeld: isHeld) }
            })
    }

    private func shown(_ record: BatchRecord, _ working: [JobProgress], at now: Double) -> Control.Progress {
        let fraction = record.tree(over: working).fractionCompleted
        let all = record.ended + record.unended
        // What waits for something else than the others of its batch is not done by going on.
        let left = Double(all) * (1 - fraction) - Double(record.held)
        let (rate, remaining) = outlook(of: batchProgress[record.id], left, working, at: now)
        return Control.Progress(
            unit: Figures.Unit.jobs.rawValue, done: record.ended, total: all, fraction: fraction.share,
            rate: rate, remaining: record.isOpen ? nil : remaining)
    }

    /// The jobs that are in no batch.
    private func others(than ofBatches: Int, _ working: [JobProgress], at now: Double) -> Control.Progress {
        let unended = [JobState.waiting, .queued, .running, .cancelling].reduce(0) { $0 + (counts[$1] ?? 0) }
        let (open, done) = (max(0, unended - ofBatches), Int(batchProgress[nil]?.pace.done ?? 0))
        let begun = working.reduce(0) { $0 + $1.whole.fractionCompleted }
        let (rate, remaining) = outlook(of: batchProgress[nil], Double(open) - begun, working, at: now)
        return Control.Progress(
            unit: Figures.Unit.jobs.rawValue, done: done, total: done + open,
            fraction: open + done == 0 ? nil : (min(1, (Double(done) + begun) / Double(done + open))).share,
            rate: rate, remaining: remaining)
    }

    /// Nothing is foretold while nothing goes on. What is left takes no less than any of the jobs in work does.
    private func outlook(
        of batch: BatchProgress?, _ left: Double, _ working: [JobProgress], at now: Double
    ) -> (rate: Double?, remaining: Double?) {
        let isPaused = stopping || render.report.paused || publish.report.paused
        guard let batch, !isPaused, !(batch.downloads && download.report.paused),
            working.contains(where: { $0.job.record.state == .running })
        else { return (nil, nil) }
        let longest = working.compactMap { $0.current?.progress.remaining }.max() ?? 0
        return (
            batch.pace.rate(at: now)?.figure, batch.pace.remaining(left, at: now).map { max($0, longest).figure }
        )
    }

    // MARK: - Who watches

    /// Tells the watcher of each change from now on. There is a timer only while somebody watches.
    func add(_ watcher: ProgressWatcher) {
        progressWatchers.append(watcher)
        if progressWatchers.count == 1 { tellProgress() }
    }

    private func tellProgress() {
        progressWatchers.removeAll { !$0.isWanted }
        guard !progressWatchers.isEmpty else { return }
        var known: [Int?: Result<Call.Progress.Reply, ControlError>] = [:]
        for watcher in progressWatchers {
            let news = known[watcher.batch] ?? Result { () throws(ControlError) in try progress(of: watcher.batch) }
            known[watcher.batch] = news
            watcher.tell(news)
        }
        Coordination.after(.milliseconds(1000 / ControlInterface.progressRate)) {
            self.tellProgress()
        }
    }
}

extension Job {
    /// Some operation of it has begun.
    fileprivate var isInWork: Bool { !ended && (download ?? render).hasBegun }
}

extension Progress {
    fileprivate var remaining: Double? { userInfo[.estimatedTimeRemainingKey] as? Double }

    fileprivate func shown(_ unit: Figures.Unit, isHeld: Bool) -> Control.Progress {
        let rate = userInfo[.throughputKey] as? Double
        return Control.Progress(
            unit: unit.rawValue, done: Int(completedUnitCount), total: isIndeterminate ? nil : Int(totalUnitCount),
            fraction: isIndeterminate ? nil : fractionCompleted.share, rate: isHeld ? nil : rate?.figure,
            remaining: isHeld ? nil : remaining?.figure)
    }
}

extension Double {
    /// No more digits than say something, also of one job of a hundred thousand.
    fileprivate var figure: Double { (self * 1000).rounded() / 1000 }
    /// Rounds down: 1 means the end.
    fileprivate var share: Double { (self * 100_000).rounded(.down) / 100_000 }
}
