import PipelineControl

extension Verb {
    static let show = Verb(
        name: "show",
        summary: "one job's whole story",
        usage: "ID [--node NODE]",
        arguments: [Argument("ID", kinds: [.anyJob], "the job's number, as `pipectl list` shows it")],
        options: [.node],
        examples: [
            Example("pipectl show 12", "its input, results, times, sizes, chains and operations"),
            Example("pipectl show 12 --node attic", "job 12 of another machine of the fleet"),
        ],
        run: { context in
            guard let id = try context.invocation.ids().first else { return .usage }
            if let nodes = try ChosenNodes(context.invocation) { return try show(id, on: nodes, context) }
            let story = try context.call(Call.Show(id: id)).story
            if context.json {
                try context.output.document(story)
            } else {
                try context.output.lines(StoryPage(story: story, width: context.output.columns).lines)
            }
            return .done
        })

    private static func show(_ id: Int, on nodes: ChosenNodes, _ context: Context) throws -> ExitCode {
        guard nodes.names.count == 1 else { throw Failure.usage("a job is on one machine: --node needs one name") }
        var silent: [NodeSilence] = []
        for answer in try nodes.ask(Call.Show(id: id), context) {
            switch answer.answer {
            case .failure(let silence): silent.append(silence)
            case .success(let reply) where context.json:
                try context.output.document(OfNode(node: answer.node, value: reply.story))
            case .success(let reply):
                let page = StoryPage(story: reply.story, node: answer.node, width: context.output.columns)
                try context.output.lines(page.lines)
            }
        }
        return try context.report(silent)
    }
}
