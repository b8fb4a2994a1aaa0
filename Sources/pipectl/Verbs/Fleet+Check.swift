import PipelineControl

extension Verb {
    /// Checks the fleet's nodes. Fails if a node fails its check, or if there is no other node.
    static func checkFleet(_ nodes: String?, _ context: Context) throws -> ExitCode {
        let names = nodes.map { $0.split(separator: ",").map(String.init) } ?? []
        let reply = try context.call(Call.CheckFleet(nodes: names))
        if context.json {
            try context.output.document(reply)
        } else {
            try context.output.lines(reply.checks.lines(width: context.output.columns))
        }
        return reply.checks.allSatisfy { $0.problem == nil } ? .done : .failed
    }
}

extension [Control.NodeCheck] {
    fileprivate func lines(width: Int?) -> [Text] {
        var table = Table([
            .init(title: "NODE", fit: .name), .init(title: "ACCEPTED", right: true),
            .init(title: "RESULT", right: true),
            .init(title: "", fit: .words),
        ])
        for check in self where check.problem == nil {
            table.add(
                .name(check.node), Self.time(check.accepted), Self.time(check.milliseconds),
                check.lacks.isEmpty ? "" : Text("lacks \(check.lacks.joined(separator: ", "))", .halted))
        }
        let problems = compactMap { check -> Text? in check.problem.map { "\(check.node, .bad): \($0)" } }
        return (table.isEmpty ? [] : table.lines(width: width)) + problems
    }

    private static func time(_ milliseconds: Double?) -> Text {
        Text(milliseconds.map { "\(Int(nearest: $0)) ms" } ?? "")
    }
}
