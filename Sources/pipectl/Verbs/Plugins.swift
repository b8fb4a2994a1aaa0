import PipelineControl

extension Verb {
    static let plugins = Verb(
        name: "plugins",
        summary: "the stages a chain can have, and the manual of each",
        usage: "[[show] NAME]",
        discussion: ["Lists plugins that were skipped, too, with the reason."],
        arguments: [Argument("NAME", count: 0...2, "a stage: print its manual")],
        examples: [
            Example("pipectl plugins", "all stages"),
            Example("pipectl plugins noir", "one, with its parameters"),
        ],
        run: { context in
            let reply = try context.call(Call.Plugins())
            guard let name = try wanted(context.invocation.arguments) else {
                try list(reply, context)
                return .done
            }
            guard let stage = reply.stages.first(where: { $0.name == name }) else {
                let hint = didYouMean(name, among: reply.stages.map(\.name))
                throw Failure(
                    "NoSuchStage", "there is no stage '\(name)'\(hint)\n`pipectl plugins` lists them", .usage)
            }
            if context.json {
                try context.output.document(stage)
            } else {
                try context.output.lines(StageManual(stage: stage).lines)
            }
            return .done
        })

    private static func wanted(_ words: [String]) throws(Failure) -> String? {
        guard words.count == 2 else { return words.first }
        guard words[0] == "show" else { throw .usage("unexpected '\(words[1])'\n\(plugins.usageLine)") }
        return words[1]
    }

    private static func list(_ reply: Call.Plugins.Reply, _ context: Context) throws {
        if context.json {
            for stage in reply.stages { try context.output.object(stage) }
            for skipped in reply.skipped { try context.output.object(skipped) }
            return
        }
        var table = Table([
            .init(title: "STAGE"), .init(title: "VERSION"), .init(title: "FROM", elastic: true),
            .init(title: "", elastic: true),
        ])
        for stage in reply.stages {
            table.add(
                Text(stage.name, .strong), Text(stage.version ?? ""), Text(stage.file ?? "built in", .faint),
                Text(stage.summary))
        }
        try context.output.lines(table.lines(width: context.output.columns))
        for skipped in reply.skipped {
            try context.output.line("\("skipped", .bad) \(skipped.file): \(skipped.reason)")
        }
    }
}
