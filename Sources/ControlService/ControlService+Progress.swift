import DaemonInterface
import DaemonRuntime
import PipelineControl
import Synchronization

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

@Coordination
extension ControlService {
    /// The progress of one batch, or of all work if `batch` is nil.
    fileprivate func progress(of batch: Int?) throws(ControlError) -> Call.Progress.Reply {
        let report: ProgressReport?
        do {
            report = try daemon.progress(of: batch, limit: ControlInterface.mostProgress)
        } catch {
            throw .refused("\(error)")
        }
        guard let report else { throw Self.noSuchBatch(batch ?? 0) }
        return Call.Progress.Reply(
            batches: report.batches.map {
                Control.BatchProgress(batch: $0.batch.shown, progress: Control.Progress($0.figures))
            },
            others: Control.Progress(report.others), jobs: report.jobs.map(shown), unfinished: report.unfinished,
            running: report.running)
    }

    private func shown(_ progress: ProgressReport.OfJob) -> Control.JobProgress {
        Control.JobProgress(
            job: shown(progress.job), fraction: progress.fraction, operation: progress.operation,
            progress: progress.figures.map(Control.Progress.init))
    }
}

extension Control.Progress {
    init(_ figures: ProgressReport.Figures) {
        self.init(
            unit: figures.unit, done: figures.done, total: figures.total, fraction: figures.fraction,
            rate: figures.rate, remaining: figures.remaining)
    }
}

/// Reports each change of progress to the watchers. A timer polls the progress while there are watchers.
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

/// A client that follows progress. A newer report replaces an unsent report, so that reports don't pile up for a slow
/// client.
final class ProgressWatcher: Sendable {
    private struct State {
        var unsent: Result<Call.Progress.Reply, ControlError>?
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
            if case .success(let old)? = state.unsent, case .success(let new) = news, old == new { return false }
            (state.unsent, state.isTaken) = (news, false)
            if isLast(news) { state.isWanted = false }
            return true
        }
        if isNews { connection.pump() }
    }

    /// Called on the server's queue.
    func next() -> ControlConnection.Step {
        let unsent = state.withLock { state in
            defer { state.isTaken = true }
            return state.isTaken ? nil : state.unsent
        }
        switch unsent {
        case nil: return .nothing
        case .failure(let error)?: return .last(ControlRequest.frame(error))
        case .success(let reply)? where isLast(unsent):
            return .last(ControlRequest.frame(reply, continues: false))
        case .success(let reply)?: return .frame(ControlRequest.frame(reply, continues: true))
        }
    }

    /// Whether this is the last report: the watched batch has ended, or the call has failed.
    private func isLast(_ news: Result<Call.Progress.Reply, ControlError>?) -> Bool {
        switch news {
        case .success(let reply)?: batch != nil && reply.unfinished == 0
        case .failure?: true
        case nil: false
        }
    }
}
