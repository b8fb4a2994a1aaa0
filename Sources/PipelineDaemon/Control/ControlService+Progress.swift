import DaemonRuntime
import PipelineControl
import PipelineModel
import Synchronization

extension ControlService {
    func addProgressCalls() {
        onSupervisor(Call.Progress.self) { [supervisor] call, request in
            let now = try supervisor.progress(of: call.batch)
            guard request.more else { return request.reply(now) }
            let watcher = ProgressWatcher(batch: call.batch, connection: request.connection)
            request.connection.follow(()) { _ in
                watcher.next()
            } abandoned: {
                watcher.abandon()
            }
            supervisor.add(watcher)
        }
    }
}

/// Somebody who is told of progress as it changes. What has not been taken yet gives way to what is newer, so that a slow reader costs
/// nothing.
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
        self.batch = batch
        self.connection = connection
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

    /// On the server's queue.
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

    /// The batch has ended.
    private func isLast(_ news: Result<Call.Progress.Reply, ControlError>?) -> Bool {
        switch news {
        case .success(let reply)?: batch != nil && reply.unfinished == 0
        case .failure?: true
        case nil: false
        }
    }
}
