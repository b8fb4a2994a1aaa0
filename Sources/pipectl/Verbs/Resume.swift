import PipelineControl

extension Verb {
    static let resume = Verb(
        name: "resume",
        summary: "go on after a pause",
        usage: "[QUEUE]",
        arguments: [
            Argument("QUEUE", count: 0...1, kinds: [.queue], "this queue only; else download, render and publish")
        ],
        examples: [Example("pipectl resume", "all queues")],
        run: { context in
            try context.print(context.call(Call.Resume(queue: context.invocation.arguments.first)).queues)
        })
}
