import PipelineControl

extension Verb {
    static let resume = Verb(
        name: "resume",
        summary: "continue after a pause",
        usage: "[QUEUE] [--node NODE | --fleet]",
        arguments: [
            Argument("QUEUE", count: 0...1, kinds: [.queue], "this queue only; default: download, render and publish")
        ],
        options: [.node, .wholeFleet],
        examples: [Example("pipectl resume", "all queues")],
        run: { context in
            let queue = context.invocation.arguments.first
            if let nodes = try ChosenNodes(context.invocation) {
                return try nodes.command("resume", queue: queue, context)
            }
            return try context.print(context.call(Call.Resume(queue: queue)).queues)
        })
}
