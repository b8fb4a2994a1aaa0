import PipelineControl

extension Verb {
    static let drain = Verb(
        name: "drain",
        summary: "finish what is in work, and begin nothing",
        usage: "[--node NODE | --fleet]",
        discussion: [
            "For a machine that is about to be shut down. Download and render are paused, and it answers when what was in",
            "work is published, what was lent has come back, and no picture of another machine is here any more. What",
            "waits goes on waiting, also over a restart, until `pipectl resume`. If the queue publish is paused, or has the",
            "limit 0, and rendered pictures wait there, it says so instead of waiting. On a terminal it shows what it waits",
            "for. Ctrl-C ends the waiting, not the drain.",
        ],
        options: [.node, .wholeFleet],
        examples: [
            Example("pipectl drain && systemctl reboot", "nothing has to be done a second time"),
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
