import PipelineControl

extension Option {
    fileprivate static let reason = Option("--reason", value: "TEXT", "the reason, shown in the status")
}

extension Verb {
    static let pause = Verb(
        name: "pause",
        summary: "start nothing new",
        usage: "[QUEUE] [--reason TEXT] [--node NODE | --fleet]",
        discussion: [
            "Running operations finish. When the command has returned, nothing new starts. A paused queue stays",
            "paused after a restart of the daemon, until `pipectl resume`. While render is paused, no picture of another",
            "machine is taken.",
        ],
        arguments: [
            Argument("QUEUE", count: 0...1, kinds: [.queue], "this queue only; default: download, render and publish")
        ],
        options: [.reason, .node, .wholeFleet],
        examples: [Example("pipectl pause render --reason 'the CPU is needed'", "one queue, and say why")],
        run: { context in
            let (queue, reason) = (context.invocation.arguments.first, context.invocation.value(.reason))
            if let nodes = try ChosenNodes(context.invocation) {
                return try nodes.command("pause", queue: queue, reason: reason, context)
            }
            return try context.print(context.call(Call.Pause(queue: queue, reason: reason)).queues)
        })
}
