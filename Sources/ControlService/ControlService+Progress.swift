import DaemonRuntime
import Foundation
import JobFlow
import JobLedger
import JobModel
import OperationGraph
package import PipelineControl
import PipelineModel
import Synchronization
import WorkerPools

extension ControlService {
    func addProgressCalls() {
        onOwners(Call.Progress.self) { [self] call, request in
            let now = try progress(of: call.batch)
            guard request.more else { return request.reply(now) }
            let watcher = ProgressWatcher(batch: call.batch, connection: request.connection)
            request.connection.follow(()) { _ in
                watcher.next()
            } abandoned: {
                watcher.abandon()
            }
            watchers.add(watcher, of: self)
        }
    }
}

/// Reports progress. Each operation keeps its own figures; a `Progress` call combines them.
@Coordination
extension ControlService {
    /// The progress of one batch, or of all work if `batch` is nil.
    func progress(of batch: Int?) throws(ControlError) -> Call.Progress.Reply {
        let now = Timestamp.now()
        // Sort jobs that wait for their next operation to the end, because the limit cuts off the end of the list.
        let working = owners.jobs.all.filter { $0.isInWork && (batch == nil || $0.record.batch == batch) }
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

    /// Chooses the batches to report: first those with jobs in memory, then the oldest unfinished ones.
    private func chosen(_ unfinished: [Int]) -> [Int] {
        let present = owners.jobs.progress.present
        let known = Set(present)
        return Array((present + unfinished.filter { !known.contains($0) }).prefix(ControlInterface.mostProgress))
    }

    /// Progress of this job's current operation.
    package func current(of id: Int) -> Control.Progress? {
        owners.jobs[id].flatMap { $0.isInWork ? shown(JobProgress($0, at: Timestamp.now())).progress : nil }
    }

    private func shown(_ working: JobProgress) -> Control.JobProgress {
        let isWaiting = working.job.record.state == .waiting
        return Control.JobProgress(
            job: shown(working.job.record), fraction: working.whole.fractionCompleted.share,
            operation: working.current?.operation.queue?.name,
            progress: working.current.flatMap { operation, progress in
                (operation as? any Measured).map { progress.shown($0.figures.unit, isWaiting: isWaiting) }
            })
    }

    private func shown(_ record: BatchRecord, _ working: [JobProgress], at now: Double) -> Control.Progress {
        let fraction = record.tree(over: working).fractionCompleted
        let all = record.ended + record.unended
        // Jobs that wait for something outside the batch don't finish at its pace, so the forecast leaves them out.
        let left = Double(all) * (1 - fraction) - Double(record.waiting)
        let (rate, remaining) = outlook(of: owners.jobs.progress[record.id], left, working, at: now)
        return Control.Progress(
            unit: Figures.Unit.jobs.rawValue, done: record.ended, total: all, fraction: fraction.share,
            rate: rate, remaining: record.isOpen ? nil : remaining)
    }

    /// The progress of jobs without a batch. `ofBatches` is the number of unfinished jobs that have a batch.
    private func others(than ofBatches: Int, _ working: [JobProgress], at now: Double) -> Control.Progress {
        let unended = [JobState.waiting, .queued, .running, .cancelling].reduce(0) { $0 + owners.jobs.counts[$1] }
        let (open, done) = (max(0, unended - ofBatches), Int(owners.jobs.progress[nil]?.pace.done ?? 0))
        let begun = working.reduce(0) { $0 + $1.whole.fractionCompleted }
        let (rate, remaining) = outlook(of: owners.jobs.progress[nil], Double(open) - begun, working, at: now)
        return Control.Progress(
            unit: Figures.Unit.jobs.rawValue, done: done, total: done + open,
            fraction: open + done == 0 ? nil : (min(1, (Double(done) + begun) / Double(done + open))).share,
            rate: rate, remaining: remaining)
    }

    /// Forecasts the rate and the remaining time. Both are nil while no job runs or a queue is paused. The remaining
    /// time is at least that of the slowest running operation.
    private func outlook(
        of batch: BatchProgress?, _ left: Double, _ working: [JobProgress], at now: Double
    ) -> (rate: Double?, remaining: Double?) {
        let queues = owners.queues
        let isPaused = owners.shutdown.isStopping || queues.render.report.paused || queues.publish.report.paused
        guard let batch, !isPaused, !(batch.downloads && queues.download.report.paused),
            working.contains(where: { $0.job.record.state == .running })
        else { return (nil, nil) }
        let longest = working.compactMap { $0.current?.progress.remaining }.max() ?? 0
        return (
            batch.pace.rate(at: now)?.figure, batch.pace.remaining(left, at: now).map { max($0, longest).figure }
        )
    }
}

/// Reports each change of progress to watchers. The timer runs only while there are watchers.
@Coordination
final class ProgressWatchers {
    private var watchers: [ProgressWatcher] = []

    nonisolated init() {}

    func add(_ watcher: ProgressWatcher, of service: ControlService) {
        watchers.append(watcher)
        if watchers.count == 1 { tell(service) }
    }

    private func tell(_ service: ControlService) {
        watchers.removeAll { !$0.isWanted }
        guard !watchers.isEmpty else { return }
        var known: [Int?: Result<Call.Progress.Reply, ControlError>] = [:]
        for watcher in watchers {
            let batch = watcher.batch
            let news = known[batch] ?? Result { () throws(ControlError) in try service.progress(of: batch) }
            known[batch] = news
            watcher.tell(news)
        }
        Coordination.after(.milliseconds(1000 / ControlInterface.progressRate)) { self.tell(service) }
    }
}

extension Job {
    /// Whether the job's first operation has started.
    fileprivate var isInWork: Bool { (download ?? render).hasBegun }
}

extension Progress {
    fileprivate var remaining: Double? { userInfo[.estimatedTimeRemainingKey] as? Double }

    fileprivate func shown(_ unit: Figures.Unit, isWaiting: Bool) -> Control.Progress {
        let rate = userInfo[.throughputKey] as? Double
        return Control.Progress(
            unit: unit.rawValue, done: Int(completedUnitCount), total: isIndeterminate ? nil : Int(totalUnitCount),
            fraction: isIndeterminate ? nil : fractionCompleted.share, rate: isWaiting ? nil : rate?.figure,
            remaining: isWaiting ? nil : remaining?.figure)
    }
}

extension Double {
    /// Rounded to three decimals.
    fileprivate var figure: Double { (self * 1000).rounded() / 1000 }
    /// Rounded down to five decimals, so that 1 always means complete.
    fileprivate var share: Double { (self * 100_000).rounded(.down) / 100_000 }
}

/// A client that follows progress. A newer report replaces an unsent one, so that reports don't pile up for a slow
/// client.
final class ProgressWatcher: Sendable {
    private struct State {
        var told: Result<Call.Progress.Reply, ControlError>?
        var isTaken = true
        var isWanted = true
    }

    let batch: Int?
    private let connection: ControlConnection
    private let state = Mutex(State())

    init(batch: Int?, connection: ControlConnection) {
        (self.batch, self.connection) = (batch, connection)
    }

    var isWanted: Bool { state.withLock { $0.isWanted } }

    func abandon() { state.withLock { $0.isWanted = false } }

    func tell(_ news: Result<Call.Progress.Reply, ControlError>) {
        let isNews = state.withLock { state in
            if case .success(let old)? = state.told, case .success(let new) = news, old == new { return false }
            (state.told, state.isTaken) = (news, false)
            if isLast(news) { state.isWanted = false }
            return true
        }
        if isNews { connection.pump() }
    }

    /// Called on the server's queue.
    func next() -> ControlConnection.Step {
        let told = state.withLock { state in
            defer { state.isTaken = true }
            return state.isTaken ? nil : state.told
        }
        switch told {
        case nil: return .nothing
        case .failure(let error)?: return .last(ControlRequest.frame(error))
        case .success(let reply)? where isLast(told):
            return .last(ControlRequest.frame(reply, continues: false))
        case .success(let reply)?: return .frame(ControlRequest.frame(reply, continues: true))
        }
    }

    /// Whether no report follows this one: the watched batch has ended, or the call has failed.
    private func isLast(_ news: Result<Call.Progress.Reply, ControlError>?) -> Bool {
        switch news {
        case .success(let reply)?: batch != nil && reply.unfinished == 0
        case .failure?: true
        case nil: false
        }
    }
}
