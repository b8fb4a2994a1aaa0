import PipelineControl

extension Verb {
    static let cancelAll = Verb(
        name: "cancel-all",
        summary: "stop every job there is",
        usage: "[--node NODE | --fleet]",
        discussion: [
            "Takes jobs that are waiting, queued, running or just arriving; jobs that arrive later run.",
            "Answers when none of them runs. The originals go to the folder `cancelled`. With --fleet each machine cancels",
            "the jobs that it took in, wherever they are rendered; a machine that does not answer is named.",
        ],
        options: [.node, .wholeFleet],
        examples: [Example("pipectl cancel-all && pipectl retry --cancelled", "stop, and think again")],
        run: { context in
            if let nodes = try ChosenNodes(context.invocation) { return try nodes.command("cancel-all", context) }
            let reply = try context.call(Call.CancelAll())
            return try context.print(cancelled: reply.cancelled, reply)
        })
}
