import PipelineControl

extension Verb {
    static let cancelAll = Verb(
        name: "cancel-all",
        summary: "stop all jobs",
        usage: "[--node NODE | --fleet]",
        discussion: [
            "Cancels jobs that are waiting, queued, running or just arriving; jobs that arrive later run.",
            "Returns when none of them is running. The originals go to the folder `cancelled`. With --fleet each machine cancels",
            "the jobs that it took in, wherever they are rendered; machines that do not answer are named.",
        ],
        options: [.node, .wholeFleet],
        examples: [Example("pipectl cancel-all && pipectl retry --cancelled", "stop, and think again")],
        run: { context in
            if let nodes = try ChosenNodes(context.invocation) { return try nodes.command("cancel-all", context) }
            let reply = try context.call(Call.CancelAll())
            return try context.print(cancelled: reply.cancelled, reply)
        })
}
