import PipelineControl

extension Verb {
    static let cancelAll = Verb(
        name: "cancel-all",
        summary: "stop every job there is",
        discussion: [
            "Takes jobs that are waiting, queued, running or just arriving; jobs that arrive later run.",
            "Answers when none of them runs. The originals go to the folder `cancelled`.",
        ],
        examples: [Example("pipectl cancel-all && pipectl retry --cancelled", "stop, and think again")],
        run: { context in
            let reply = try context.call(Call.CancelAll())
            return try context.print(cancelled: reply.cancelled, reply)
        })
}
