import DaemonInterface
import DaemonRuntime
import PipelineControl
import WorkerProtocol

extension ControlService {
    func addQueueCalls() {
        onWriting(Call.Pause.self, but: "the pause holds") { [self] call, request in
            try Self.check(reason: call.reason)
            execute(.pause(queue: call.queue, reason: call.reason), request) { service, _ in
                Call.Pause.Reply(queues: ControlService.shown(service.daemon.queueReports()))
            }
        }
        onWriting(Call.Resume.self, but: "the queues go on") { [self] call, request in
            execute(.resume(queue: call.queue), request) { service, _ in
                Call.Resume.Reply(queues: ControlService.shown(service.daemon.queueReports()))
            }
        }
        onOwners(Call.Concurrency.self) { [self] call, request in
            execute(.concurrency(queue: call.queue, limit: call.limit, save: call.save), request) { service, _ in
                Call.Concurrency.Reply(queues: ControlService.shown(service.daemon.queueReports()))
            }
        }
        onWriting(Call.CancelAll.self) { [self] _, request in
            execute(.cancelAll, request) { Call.CancelAll.Reply(cancelled: $1.cancelled ?? 0) }
        }
        onWriting(Call.Drain.self, but: "download and render are paused") { [self] _, request in
            execute(.drain, request) { service, _ in
                Call.Drain.Reply(queues: ControlService.shown(service.daemon.queueReports()))
            }
        }
    }

    static func check(reason: String?) throws(ControlError) {
        guard let size = reason?.utf8.count, size > ControlInterface.longestReason else { return }
        throw .badValue("a reason has at most \(ControlInterface.longestReason) bytes; this one has \(size)")
    }
}

@Coordination
extension ControlService {
    private func execute<Reply: Codable & Sendable>(
        _ command: NodeCommand, _ request: ControlRequest,
        _ reply: @escaping @Coordination @Sendable (ControlService, NodeReport) -> Reply
    ) {
        daemon.execute(command, by: request.connection.peer) { [self] result in
            switch result {
            case .success(let report): request.reply(reply(self, report))
            case .failure(let refusal): request.fail(ControlError(refusal))
            }
        }
    }
}

extension ControlError {
    init(_ refusal: CommandRefusal) {
        switch refusal {
        case .noSuchQueue(let name, let queues): self = .noSuchQueue(name, queues: queues)
        case .badValue(let message): self = .badValue(message)
        case .refused(let message): self = .refused(message)
        }
    }
}
