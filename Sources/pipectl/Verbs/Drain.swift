import PipelineControl

extension Verb {
    static let drain = Verb(
        name: "drain",
        summary: "finish the work in progress, and start nothing new",
        usage: "[--node NODE | --fleet]",
        discussion: [
            "For a machine that is about to be shut down. Pauses download and render, and returns when the work in progress",
            "is published, lent pictures have come back, and no picture of another machine is left here. Waiting jobs",
            "continue to wait, even after a restart, until `pipectl resume`. If the queue publish is paused, or has the",
            "limit 0, and rendered pictures wait there, it says so instead of waiting. On a terminal, shows what it waits",
            "for. Ctrl-C ends the waiting, not the drain.",
        ],
        options: [.node, .wholeFleet],
        examples: [
            Example("pipectl drain && systemctl reboot", "no work has to be repeated"),
            Example("pipectl drain --node attic", "another machine of the fleet"),
        ],
        run: { context in
            if let nodes = try ChosenNodes(context.invocation) { return try nodes.command("drain", context) }
            guard context.output.isTerminal, !context.json else {
                return try context.print(context.call(Call.Drain()).queues)
            }
            var draining = try Draining(context: context)
            return try context.print(draining.run())
        })
}
