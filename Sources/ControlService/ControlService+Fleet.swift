import DaemonInterface
import DaemonRuntime
import PipelineControl
import PipelineModel
import ServiceProgram
import SystemCalls
import WorkerProtocol

/// Calls that other nodes of the fleet answer.
extension ControlService {
    func addFleetCalls() {
        onOwners(Call.Command.self) { [self] call, request in try command(call, request) }
        onOwners(Call.Ask.self) { [self] call, request in try ask(call, request) }
        onOwners(Call.CheckFleet.self) { [self] call, request in try check(call, request) }
    }
}

@Coordination
extension ControlService {
    private func command(_ call: Call.Command, _ request: ControlRequest) throws(ControlError) {
        let (fleet, named) = try fleet(call.nodes)
        try Self.check(reason: call.reason)
        let command = try NodeCommand(call)
        let place = named.isEmpty ? "every node" : named.joined(separator: ", ")
        Log.notice("\(call.command) on \(place) asked for by \(request.connection.peer)")
        daemon.command(
            named.isEmpty ? fleet.everybody : named, command, by: request.connection.peer
        ) { outcomes in
            request.reply(Call.Command.Reply(answers: outcomes.map(Control.NodeAnswer.init)))
        }
    }

    private func ask(_ call: Call.Ask, _ request: ControlRequest) throws(ControlError) {
        let (fleet, named) = try fleet(call.nodes)
        guard let method = NodeQuestion.Call(rawValue: call.call) else {
            let known = NodeQuestion.Call.allCases.map(\.rawValue).joined(separator: ", ")
            throw .badValue("'\(call.call.prefix(50))' can't be asked of other machines; these can: \(known)")
        }
        let size = call.parameters.utf8.count
        guard size <= NodeQuestion.longest else {
            throw .badValue("parameters have at most \(NodeQuestion.longest) bytes; these have \(size)")
        }
        let question = NodeCommand.ask(NodeQuestion(method, parameters: call.parameters))
        daemon.command(
            named.isEmpty ? fleet.everybody : named, question, by: request.connection.peer
        ) { outcomes in
            request.reply(Call.Ask.Reply(answers: outcomes.map(Control.NodeReply.init)))
        }
    }

    /// Returns the fleet, and the distinct nodes that a call names. Throws if this node is in no fleet, or if a node is
    /// unknown.
    private func fleet(_ names: [String]) throws(ControlError) -> (fleet: FleetReport, named: [String]) {
        guard let fleet = daemon.fleetReport else {
            throw .refused("this machine is in no fleet; docs/fleet.md explains how to set one up")
        }
        if let wrong = names.first(where: { !NodeName.isOne($0) }) {
            throw .badValue(
                "'\(wrong.prefix(50))' is not the name of a node; use up to 40 small letters, digits and hyphens")
        }
        let known = fleet.everybody
        if let stranger = names.first(where: { !known.contains($0) }) {
            throw .badValue("no node '\(stranger)' has been heard of; there are \(known.joined(separator: ", "))")
        }
        return (fleet, Set(names).sorted())
    }

    private func check(_ call: Call.CheckFleet, _ request: ControlRequest) throws(ControlError) {
        let (fleet, named) = try fleet(call.nodes)
        guard !named.contains(fleet.name) else {
            throw .badValue("'\(fleet.name)' is this machine; a check is for the others")
        }
        guard fleet.server != nil else {
            throw .refused(fleet.problem ?? "no server of the fleet has been reached yet")
        }
        let others = named.isEmpty ? fleet.everybody.filter { $0 != fleet.name } : named
        guard !others.isEmpty else {
            throw .refused(
                "no other machine has been heard of; `pipectl fleet` on one of them says what keeps it from the server")
        }
        let withdraw = daemon.check(others) { [daemon] outcomes in
            let lacks = Dictionary((daemon.fleetReport?.nodes ?? []).map { ($0.node.name, $0.lacks) }) { $1 }
            request.reply(
                Call.CheckFleet.Reply(
                    checks: others.map { Control.NodeCheck($0, outcomes[$0] ?? .silent, lacks: lacks[$0] ?? []) }))
        }
        request.connection.whenAbandoned { Coordination.async(withdraw) }
    }
}

extension Control.NodeReply {
    fileprivate init(_ node: String, _ outcome: NodeOutcome) {
        self.init(node: node, answered: true)
        switch outcome {
        case .silent: (answered, error) = (false, "it does not answer")
        case .refused(let refusal): error = refusal.message
        case .done(let report):
            reply = report.error == nil ? report.reply : nil
            error = report.error ?? (reply == nil ? "its answer is not understood" : nil)
        }
    }
}

extension Control.NodeCheck {
    fileprivate init(_ node: String, _ outcome: NodeCheckOutcome, lacks: [String]) {
        self.init(node: node, outcome: "ok", lacks: lacks)
        switch outcome {
        case .ok(let accepted, let delivered):
            (self.accepted, milliseconds) = (Self.milliseconds(accepted), Self.milliseconds(delivered))
        case .silent:
            (self.outcome, problem) = ("silent", "it does not answer; look at `pipectl fleet` there")
        case .otherVersion(let version):
            self.outcome = "version"
            problem = "it has pipelined \(version); install \(Release.version) there, or that here"
        case .noPlace(let time):
            self.outcome = "full"
            problem =
                "it had no free place within \(time.text); `pipectl concurrency --node \(node)` "
                + "says whether its queue render is busy or paused, and Places= in its [Fleet] may be 0"
        case .refused(let reason):
            (self.outcome, problem) = (
                "refused", "it refuses the picture\(reason.map { ": \($0)" } ?? "; look into its log")"
            )
        case .noResult(let time):
            self.outcome = "late"
            problem =
                "it has accepted the picture, but sent no result within \(time.text); look into its "
                + "log"
        case .failed(let words): (self.outcome, problem) = ("failed", words)
        }
    }

    private static func milliseconds(_ time: Duration) -> Double { (time / .microseconds(100)).rounded() / 10 }
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
                "'\(call.command.prefix(50))' is not a command; use pause, resume, concurrency, cancel-all or drain")
        }
    }
}

extension Control.NodeAnswer {
    fileprivate init(_ node: String, _ outcome: NodeOutcome) {
        switch outcome {
        case .silent:
            self.init(
                node: node, answered: false, error: "it does not answer, and may or may not have executed the command",
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
