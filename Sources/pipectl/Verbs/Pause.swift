import PipelineControl

extension Option {
    fileprivate static let reason = Option("--reason", value: "TEXT", "why, for whoever looks at the status later")
}

extension Verb {
    static let pause = Verb(
        name: "pause",
        summary: "start nothing new",
        usage: "[QUEUE] [--reason TEXT]",
        discussion: [
            "Running operations go on to their end. When pause has answered, nothing new starts. A paused queue stays",
            "paused over a restart of the daemon, until `pipectl resume`.",
        ],
        arguments: [
            Argument("QUEUE", count: 0...1, kinds: [.queue], "this queue only; else download, render and publish")
        ],
        options: [.reason],
        examples: [Example("pipectl pause render --reason 'the CPU is needed'", "one queue, and say why")],
        run: { context in
            let invocation = context.invocation
            return try context.print(
                context.call(Call.Pause(queue: invocation.arguments.first, reason: invocation.value(.reason))).queues)
        })
}
