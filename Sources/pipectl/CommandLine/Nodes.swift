import PipelineControl

extension Option {
    static let node = Option(
        "--node", value: "NODE", kinds: [.node], "on that machine of the fleet; separate several with commas")
    static let wholeFleet = Option("--fleet", "on every machine of the fleet, including this one")
}

/// The fleet's nodes that `--node` or `--fleet` chooses.
enum ChosenNodes {
    case these([String])
    case all

    /// Returns nil if neither option is given: the command then applies only to this machine, whether or not it is in a
    /// fleet.
    init?(_ invocation: Invocation) throws(Failure) {
        guard let words = invocation.value(.node) else {
            guard invocation.has(.wholeFleet) else { return nil }
            self = .all
            return
        }
        guard !invocation.has(.wholeFleet) else { throw .usage("--fleet means every machine: leave out --node") }
        let names = words.split(separator: ",").map(String.init)
        guard !names.isEmpty else { throw .usage("--node needs the name of a machine; `pipectl fleet` shows them") }
        self = .these(names)
    }

    var names: [String] {
        switch self {
        case .these(let names): names
        case .all: []
        }
    }

    /// Executes the command on the chosen nodes and prints their answers. Fails if any node reports an error.
    func command(
        _ command: String, queue: String? = nil, limit: String? = nil, reason: String? = nil, save: Bool = false,
        _ context: Context
    ) throws -> ExitCode {
        let reply = try context.call(
            Call.Command(command: command, nodes: names, queue: queue, limit: limit, reason: reason, save: save))
        if context.json {
            try context.output.document(reply)
        } else {
            try context.output.lines(reply.answers.lines(width: context.output.columns))
        }
        return reply.answers.allSatisfy { $0.error == nil } ? .done : .failed
    }
}

extension [Control.NodeAnswer] {
    func lines(width: Int?) -> [Text] {
        let counts = contains { $0.cancelled != nil }
        var table = Table(
            [.init(title: "NODE", fit: .name)]
                + (counts
                    ? [.init(title: "CANCELLED", right: true)]
                    : [
                        .init(title: "QUEUE"), .init(title: "LIMIT"), .init(title: "RUNNING", right: true),
                        .init(title: "", fit: .words),
                    ]))
        for answer in self where answer.error == nil {
            if let cancelled = answer.cancelled { table.add(.name(answer.node), "\(cancelled)") }
            guard !counts else { continue }
            for (index, queue) in answer.queues.enumerated() {
                table.add(
                    index == 0 ? .name(answer.node) : "", Text(queue.name), queue.limitText, "\(queue.running)",
                    queue.pauseText)
            }
        }
        let errors = compactMap { answer -> Text? in answer.error.map { "\(answer.node, .bad): \($0)" } }
        return (table.isEmpty ? [] : table.lines(width: width)) + errors
    }
}

extension Control.NodeQueue {
    fileprivate var limitText: Text { configured == nil ? "auto: \(effective)" : "\(effective)" }

    fileprivate var pauseText: Text {
        guard paused else { return "" }
        return Text("paused\(reason.map { ": \($0)" } ?? "")", .halted)
    }
}
