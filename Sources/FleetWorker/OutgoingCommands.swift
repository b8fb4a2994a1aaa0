import DaemonRuntime
import Foundation
import ServiceProgram
import WorkerProtocol

/// A command to another node. The sender repeats the command until the node's report arrives. The node recognises a
/// repeated command by its token, and executes the command only once.
struct Commanded: Codable, Sendable {
    var token: String
    var command: NodeCommand
}

/// The answer to a command. Without a report, the node is still executing the command.
struct CommandAnswer: Codable, Sendable {
    var report: NodeReport?
}

/// Sends commands from this node's clients to other nodes, and repeats each command until it is answered.
@Coordination
final class OutgoingCommands {
    private struct Asked {
        var id: Int
        var subject: String
        var message: [UInt8]
        /// When the node last answered.
        var heard = ContinuousClock.now
    }

    private let supervisor: SupervisorChannel
    private let lines: Lines
    /// The commands without a report so far, keyed by token.
    private var asked: [String: Asked] = [:]
    private var isAsking = false

    private static let pause = Duration.milliseconds(400)
    /// A node that has not answered within this time counts as silent. `patienceWithAbsence` applies instead if the
    /// server reports that no node of this name is connected.
    private static let patience = Duration.seconds(10)
    private static let patienceWithAbsence = Duration.seconds(3)
    private static let inbox = "command"

    nonisolated init(_ supervisor: SupervisorChannel, _ lines: Lines) {
        (self.supervisor, self.lines) = (supervisor, lines)
    }

    func send(_ node: String, _ command: NodeCommand, _ id: Int, by name: String?) {
        let token = Token.made()
        guard let name, let bytes = try? JSONEncoder().encode(Commanded(token: token, command: command)) else {
            supervisor.send(.answered(id, nil))
            return
        }
        asked[token] = Asked(id: id, subject: Subject.command(to: node, by: name), message: Array(bytes))
        ask(token)
        if !isAsking { again() }
    }

    func listen(on line: Line) throws(LineError) {
        try line.listen(to: line.inbox("\(Self.inbox).*")) { [weak self] message in
            let (token, answer) = (Subject.last(of: message.subject), message.decoded(CommandAnswer.self))
            let isAbsence = message.isAbsence
            Coordination.async {
                if let answer { self?.hear(token, answer) } else if isAbsence { self?.hearAbsence(token) }
            }
        }
    }

    private func hear(_ token: String, _ answer: CommandAnswer) {
        asked[token]?.heard = .now
        guard let report = answer.report, let id = asked.removeValue(forKey: token)?.id else { return }
        supervisor.send(.answered(id, MessageCheck.printable(report)))
    }

    private func hearAbsence(_ token: String) {
        guard let asked = asked[token], asked.heard + Self.patienceWithAbsence < .now else { return }
        giveUp(token)
    }

    private func giveUp(_ token: String) {
        guard let id = asked.removeValue(forKey: token)?.id else { return }
        supervisor.send(.answered(id, nil))
    }

    private func ask(_ token: String) {
        guard let asked = asked[token], let line = lines.current else { return }
        try? line.publish(asked.message, to: asked.subject, reply: line.inbox("\(Self.inbox).\(token)"))
    }

    private func again() {
        isAsking = true
        Coordination.after(Self.pause) { [weak self] in self?.askAgain() }
    }

    private func askAgain() {
        for token in asked.filter({ $0.value.heard + Self.patience < .now }).keys { giveUp(token) }
        for token in asked.keys { ask(token) }
        if asked.isEmpty { isAsking = false } else { again() }
    }
}
