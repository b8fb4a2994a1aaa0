import DaemonRuntime
import Dispatch
import Foundation
import JobLedger
import OperationGraph
import PipelineControl
import PipelineModel

extension ControlService {
    func addQueueCalls() {
        onOwners(Call.Pause.self) { [self] call, request in
            let queues = try queues(named: call.queue)
            if let size = call.reason?.utf8.count, size > ControlInterface.longestReason {
                throw ControlError.badValue(
                    "a reason has at most \(ControlInterface.longestReason) bytes; this one has \(size)")
            }
            Log.notice(
                "\(queues.map(\.name).joined(separator: ", ")) paused by \(request.connection.peer)"
                    + (call.reason.map { ": \($0)" } ?? ""))
            owners.pauses.pause(queues, reason: call.reason) {
                request.reply(Call.Pause.Reply(queues: self.queueReports()))
            }
        }
        onOwners(Call.Resume.self) { [self] call, request in
            let queues = try queues(named: call.queue)
            Log.notice("\(queues.map(\.name).joined(separator: ", ")) resumed by \(request.connection.peer)")
            owners.pauses.resume(queues) { request.reply(Call.Resume.Reply(queues: self.queueReports())) }
        }
        onOwners(Call.Concurrency.self) { [self] call, request in
            try limit(call, by: request.connection.peer) { [self] error in
                if let error { return request.fail(error) }
                request.reply(Call.Concurrency.Reply(queues: queueReports()))
            }
        }
    }
}

@Coordination
extension ControlService {
    private func queues(named name: String?) throws(ControlError) -> [GatedQueue] {
        let queues = owners.queues
        guard let name else { return queues.pausable }
        guard name != queues.announce.name else {
            throw .refused("the queue announce is not paused, nor limited: it tells what has happened, in order")
        }
        guard let queue = queues.pausable.first(where: { $0.name == name }) else {
            throw .noSuchQueue(name, queues: queues.all.map(\.name))
        }
        return [queue]
    }

    /// Sets a limit, and keeps it when that is wished.
    private func limit(
        _ call: Call.Concurrency, by peer: String, done: @escaping @Coordination @Sendable (ControlError?) -> Void
    ) throws(ControlError) {
        guard let text = call.limit else { return done(nil) }
        let queue = try queues(named: call.queue ?? owners.queues.render.name)[0]
        guard let limit = QueueLimit(text) else {
            throw .badValue(
                "'\(text.prefix(50))' is no limit for a queue; a number from 0 to \(QueueLimit.range.upperBound), or auto, is"
            )
        }
        owners.limits.set(limit, of: queue)
        Log.notice("at most \(queue.report.effective) at once in queue \(queue.name), by \(peer)")
        guard call.save else { return done(nil) }
        owners.limits.save(limit, of: queue) { error in
            done(error.map { .refused("the limit holds until the restart, but can't be saved: \($0)") })
        }
    }
}
