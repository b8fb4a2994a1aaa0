import DaemonRuntime
import PipelineControl
import PipelineModel
import WorkerProtocol

extension ControlService {
    func addQueueCalls() {
        onWriting(Call.Pause.self, but: "the pause holds") { [self] call, request in
            try Self.check(reason: call.reason)
            obey(.pause(queue: call.queue, reason: call.reason), request) { service, _ in
                Call.Pause.Reply(queues: service.queueReports())
            }
        }
        onWriting(Call.Resume.self, but: "the queues go on") { [self] call, request in
            obey(.resume(queue: call.queue), request) { service, _ in
                Call.Resume.Reply(queues: service.queueReports())
            }
        }
        onOwners(Call.Concurrency.self) { [self] call, request in
            obey(.concurrency(queue: call.queue, limit: call.limit, save: call.save), request) { service, _ in
                Call.Concurrency.Reply(queues: service.queueReports())
            }
        }
        onWriting(Call.CancelAll.self) { [self] _, request in
            obey(.cancelAll, request) { Call.CancelAll.Reply(cancelled: $1.cancelled ?? 0) }
        }
        onWriting(Call.Drain.self, but: "download and render are paused") { [self] _, request in
            obey(.drain, request) { service, _ in Call.Drain.Reply(queues: service.queueReports()) }
        }
        onOwners(Call.Command.self) { [self] call, request in try command(call, request) }
    }

    private static func check(reason: String?) throws(ControlError) {
        guard let size = reason?.utf8.count, size > ControlInterface.longestReason else { return }
        throw .badValue("a reason has at most \(ControlInterface.longestReason) bytes; this one has \(size)")
    }
}

@Coordination
extension ControlService {
    private func obey<Reply: Codable & Sendable>(
        _ command: NodeCommand, _ request: ControlRequest,
        _ reply: @escaping @Coordination @Sendable (ControlService, NodeReport) -> Reply
    ) {
        owners.commands.obey(command, by: request.connection.peer) { [self] result in
            switch result {
            case .success(let report): request.reply(reply(self, report))
            case .failure(let refusal): request.fail(ControlError(refusal))
            }
        }
    }

    // MARK: - Other nodes

    private func command(_ call: Call.Command, _ request: ControlRequest) throws(ControlError) {
        guard owners.fleet.isOn else {
            throw .refused("this machine is in no fleet; docs/fleet.md tells how to make one")
        }
        if let wrong = call.nodes.first(where: { !NodeName.isOne($0) }) {
            throw .badValue(
                "'\(wrong.prefix(50))' is no name of a node; up to 40 small letters, digits and hyphens are")
        }
        try Self.check(reason: call.reason)
        let command = try NodeCommand(call)
        let named = Array(Set(call.nodes)).sorted()
        let known = owners.fleet.everybody
        if let stranger = named.first(where: { !known.contains($0) }) {
            throw .badValue("no node '\(stranger)' has been heard of; there are \(known.joined(separator: ", "))")
        }
        let place = named.isEmpty ? "every node" : named.joined(separator: ", ")
        Log.notice("\(call.command) on \(place) asked for by \(request.connection.peer)")
        owners.fleet.command(
            named.isEmpty ? owners.fleet.everybody : named, command, by: request.connection.peer
        ) { outcomes in
            request.reply(Call.Command.Reply(answers: outcomes.map(Control.NodeAnswer.init)))
        }
    }
}

extension NodeCommand {
    fileprivate init(_ call: Call.Command) throws(ControlError) {
        switch call.command {
        case "pause": self = .pause(queue: call.queue, reason: call.reason)
        case "resume": self = .resume(queue: call.queue)
        case "concurrency": self = .concurrency(queue: call.queue, limit: call.limit, save: call.save)
        case "cancel-all": self = .cancelAll
        case "drain": self = .drain
        default:
            throw .badValue(
                "'\(call.command.prefix(50))' is no command; pause, resume, concurrency, cancel-all and drain are")
        }
    }
}

extension Control.NodeAnswer {
    fileprivate init(_ node: String, _ outcome: Fleet.Outcome) {
        switch outcome {
        case .silent:
            self.init(
                node: node, answered: false, error: "it does not answer; whether it has done it is not known",
                queues: [])
        case .refused(let refusal): self.init(node: node, answered: true, error: refusal.message, queues: [])
        case .done(let report):
            self.init(
                node: node, answered: true, error: report.error, cancelled: report.cancelled,
                queues: report.queues.map { queue in
                    Control.NodeQueue(
                        name: queue.name, configured: queue.configured, effective: queue.effective,
                        running: queue.running, paused: queue.isPaused, reason: queue.reason)
                })
        }
    }
}

extension ControlError {
    fileprivate init(_ refusal: Commands.Refusal) {
        switch refusal {
        case .noSuchQueue(let name, let queues): self = .noSuchQueue(name, queues: queues)
        case .badValue(let message): self = .badValue(message)
        case .refused(let message): self = .refused(message)
        }
    }
}
