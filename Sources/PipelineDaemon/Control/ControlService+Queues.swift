import DaemonRuntime
import Dispatch
import Foundation
import JobLedger
import OperationGraph
import PipelineControl
import PipelineModel

extension ControlService {
    func addQueueCalls() {
        onSupervisor(Call.Pause.self) { [supervisor] call, request in
            let queues = try supervisor.queues(named: call.queue)
            if let size = call.reason?.utf8.count, size > ControlInterface.longestReason {
                throw ControlError.badValue(
                    "a reason has at most \(ControlInterface.longestReason) bytes; this one has \(size)")
            }
            Log.notice(
                "\(queues.map(\.name).joined(separator: ", ")) paused by \(request.connection.peer)"
                    + (call.reason.map { ": \($0)" } ?? ""))
            supervisor.pause(queues, reason: call.reason) { request.reply(Call.Pause.Reply(queues: $0)) }
        }
        onSupervisor(Call.Resume.self) { [supervisor] call, request in
            let queues = try supervisor.queues(named: call.queue)
            Log.notice("\(queues.map(\.name).joined(separator: ", ")) resumed by \(request.connection.peer)")
            supervisor.resume(queues) { request.reply(Call.Resume.Reply(queues: $0)) }
        }
        onSupervisor(Call.Concurrency.self) { [supervisor] call, request in
            try supervisor.limit(call, by: request.connection.peer) { error in
                if let error { return request.fail(error) }
                request.reply(Call.Concurrency.Reply(queues: supervisor.queueReports()))
            }
        }
    }
}

extension Supervisor {
    func queues(named name: String?) throws(ControlError) -> [GatedQueue] {
        // Announcing only tells what has happened; it is never held back.
        guard let name else { return [download, render, publish] }
        guard name != announce.name else {
            throw .refused("the queue announce is not paused, nor limited: it tells what has happened, in order")
        }
        guard let queue = queues.first(where: { $0.name == name }) else {
            throw .noSuchQueue(name, queues: queues.map(\.name))
        }
        return [queue]
    }

    /// When `done` is called nothing new starts, and the pause outlives a restart.
    func pause(
        _ queues: [GatedQueue], reason: String?,
        done: @escaping @Coordination @Sendable ([String: Control.Queue]) -> Void
    ) {
        let changed = queues.map { (queue: $0, reason: $0.pause(reason: reason)) }
        for job in window.all { showHeld(job) }
        record(changed, paused: true, done: done)
    }

    func resume(_ queues: [GatedQueue], done: @escaping @Coordination @Sendable ([String: Control.Queue]) -> Void) {
        for queue in queues { queue.resume() }
        for batch in batchProgress.values { batch.resumed() }
        for job in window.all { showHeld(job) }
        fill()
        record(queues.map { ($0, nil) }, paused: false, done: done)
    }

    private func record(
        _ changed: [(queue: GatedQueue, reason: String?)], paused: Bool,
        done: @escaping @Coordination @Sendable ([String: Control.Queue]) -> Void
    ) {
        for (queue, reason) in changed.dropLast() {
            ledger.recordPause(queue.name, reason: reason, paused: paused) {}
        }
        guard let last = changed.last else { return done(queueReports()) }
        ledger.recordPause(last.queue.name, reason: last.reason, paused: paused) { [self] in
            Coordination.async { done(self.queueReports()) }
        }
    }

    /// Sets a limit, and keeps it when that is wished.
    func limit(
        _ call: Call.Concurrency, by peer: String, done: @escaping @Coordination @Sendable (ControlError?) -> Void
    ) throws(ControlError) {
        guard let text = call.limit else { return done(nil) }
        let queue = try queues(named: call.queue ?? render.name)[0]
        guard let limit = QueueLimit(text) else {
            throw .badValue(
                "'\(text.prefix(50))' is no limit for a queue; a number from 0 to \(QueueLimit.range.upperBound), or auto, is"
            )
        }
        queue.set(limit)
        liveLimits[queue.name] = limit
        savedLimits.remove(queue.name)
        applyLimits()
        Log.notice("at most \(queue.report.effective) at once in queue \(queue.name), by \(peer)")
        ledger.append(LoggedEvent(kind: "queue", queue: queue.name, text: "limit \(limit)"))
        guard call.save else { return done(nil) }
        let name = queue.name
        saving.async { [self] in
            var failure: ControlError?
            do {
                try SavedSettings.save(limit, key: name.capitalized, to: places.saved)
            } catch {
                failure = .refused("the limit holds until the restart, but can't be saved: \(error)")
            }
            let result = failure
            Coordination.async { [self] in
                if result == nil, liveLimits[name] == limit { savedLimits.insert(name) }
                done(result)
            }
        }
    }
}
