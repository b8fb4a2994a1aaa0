import DaemonRuntime
import Foundation
import PipelineModel
import ServiceProgram
import WorkerProtocol

/// Commands from other nodes. A command may arrive repeatedly, but the supervisor gets it only once.
@Coordination
final class IncomingCommands {
    private struct Heard {
        var id: Int
        var report: NodeReport?
        /// When the command last arrived.
        var at = ContinuousClock.now
    }

    private let supervisor: SupervisorChannel
    /// The recent commands, keyed by token.
    private var heard: [String: Heard] = [:]
    private var last = 0

    /// How long a report is kept after its command last arrived. The sender repeats the command if the answer with the
    /// report gets lost.
    private static let memory = Duration.seconds(60)
    private static let most = 256
    nonisolated private static let longest = 8192
    /// Delay of the first answer. Most commands finish within this time, so that the first answer already contains the
    /// report.
    private static let pause = Duration.milliseconds(60)

    nonisolated init(_ supervisor: SupervisorChannel) { self.supervisor = supervisor }

    func listen(on line: Line, as name: String) throws(LineError) {
        try line.listen(to: Subject.command(to: name, by: "*")) { [weak self, weak line] message in
            let node = Subject.last(of: message.subject)
            guard message.withBytes(\.count) <= Self.longest, let commanded = message.decoded(Commanded.self),
                let reply = message.reply, reply.hasPrefix("_INBOX."), Token.isOne(commanded.token),
                MessageCheck.accepts(commanded.command), NodeName.isOne(node)
            else { return }
            Coordination.async { self?.hear(commanded, by: node, on: line, reply) }
        }
    }

    func obeyed(_ id: Int, _ report: NodeReport) {
        guard let token = heard.first(where: { $0.value.id == id })?.key else { return }
        heard[token]?.report = report
    }

    private func hear(_ commanded: Commanded, by node: String, on line: Line?, _ reply: String) {
        let isNews = heard[commanded.token] == nil
        if isNews { begin(commanded, by: node) }
        heard[commanded.token]?.at = .now
        Coordination.after(isNews ? Self.pause : .zero) { [weak self, weak line] in
            guard let self, let line, let heard = heard[commanded.token],
                let answer = try? JSONEncoder().encode(CommandAnswer(report: heard.report))
            else { return }
            try? line.publish(Array(answer), to: reply)
        }
    }

    private func begin(_ commanded: Commanded, by node: String) {
        heard = heard.filter { $0.value.at + Self.memory > .now }
        // Too many recent commands mean that another node floods this node. Further commands get no answer.
        guard heard.count < Self.most else { return }
        last += 1
        heard[commanded.token] = Heard(id: last)
        supervisor.send(.commanded(last, commanded.command, by: node))
    }
}
