import PipelineControl

extension Option {
    fileprivate static let done = Option("--done", "all done jobs")
    fileprivate static let failed = Option("--failed", "all failed jobs")
    fileprivate static let cancelled = Option("--cancelled", "all cancelled jobs")
    fileprivate static let older = Option(
        "--older", value: "TIME", "only jobs that ended before this age, as 30d, or this date, as 2026-03-01")
    fileprivate static let recipe = Option("--recipe", value: "RECIPE", kinds: [.recipe], "only jobs of this recipe")
}

extension Verb {
    static let forget = Verb(
        name: "forget",
        summary: "remove ended jobs from the list",
        usage: "ID…|--done|--failed|--cancelled [--older TIME] [--recipe RECIPE]",
        discussion: [
            "The jobs are no longer listed, and can't be retried. Their files stay, but the daemon does not know them any",
            "more: neither `pipectl clean` nor [Keep] removes them. Jobs that the daemon forgets automatically, after",
            "History=, leave files that it still knows.",
            "A job whose original stays in its inbox (Original=keep) is not forgotten: it would be taken again.",
        ],
        arguments: [Argument("ID", count: 0...Int.max, kinds: [.overJob], "a job's number")],
        options: [.done, .failed, .cancelled, .older, .recipe],
        examples: [
            Example("pipectl forget 12", "one job"),
            Example("pipectl forget --failed --older 30d", "old failures"),
        ],
        run: { context in
            let invocation = context.invocation
            let ids = try invocation.ids()
            let states = [(Option.done, "done"), (.failed, "failed"), (.cancelled, "cancelled")]
                .filter { invocation.has($0.0) }.map(\.1)
            guard ids.isEmpty != states.isEmpty else {
                throw Failure.usage(
                    "forget needs IDs, or --done, --failed or --cancelled\n`pipectl help forget` says more")
            }
            var reply = Call.Forget.Reply(forgotten: 0, left: 0)
            try context.inTurn(ids) { ids in
                let part = try context.call(
                    Call.Forget(
                        ids: ids, states: states, recipe: invocation.value(.recipe), older: invocation.value(.older)))
                reply.forgotten += part.forgotten
                reply.left += part.left
            }
            if context.json {
                try context.output.document(reply)
            } else {
                try context.output.line(
                    reply.forgotten == 0
                        ? "nothing to forget"
                        : "forgot \(Amount.counted(reply.forgotten, "job")); their files stay, and are no longer known")
                if reply.left > 0 {
                    try context.output.line(
                        "\(Amount.counted(reply.left, "job")) stay: their originals are in an inbox, and would be taken again"
                    )
                }
            }
            return .done
        })
}
