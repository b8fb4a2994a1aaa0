extension Option {
    fileprivate static let since = Option(
        "--since", value: "CURSOR", "begin after this event, not now; `status --json` shows the cursor")
    fileprivate static let batch = Option(
        "--batch", value: "N|NAME", kinds: [.batch],
        "only this batch, until it has ended; exits with 1 if one of its jobs failed")
    fileprivate static let progress = Option(
        "--progress", "with --json: also a line for each change of progress")
    fileprivate static let untilIdle = Option(
        "--until-idle",
        "end when `pipectl wait` would; exits with 1 if a job failed or was cancelled meanwhile")
}

extension Verb {
    static let watch = Verb(
        name: "watch",
        summary: "follow what happens, live",
        usage: "[--since CURSOR] [--batch N|NAME | --until-idle] [--timeout TIME] [--progress]",
        discussion: [
            "On a terminal, each batch is a bar, with rate and remaining time if they are known, above its jobs in progress.",
            "Finished jobs scroll by above, and a summary stays at the end; Ctrl-C ends it.",
            "Elsewhere, and with --json, it prints one line for each event.",
        ],
        options: [.since, .batch, .untilIdle, .timeout, .progress],
        examples: [
            Example("pipectl watch", "the bars"),
            Example("pipectl watch --batch 3", "one list of URLs, until it is done"),
            Example("pipectl watch --until-idle", "until all is done"),
            Example("pipectl watch --json --since 0 | jq .job.id", "every event on record, then what follows"),
        ],
        run: { context in
            let invocation = context.invocation
            var scope = invocation.has(.untilIdle) ? Watching.Scope.untilIdle : .everything
            if invocation.has(.progress), !context.json {
                throw Failure.usage("--progress needs --json: on a terminal, progress is always shown")
            }
            if invocation.has(.batch), scope != .everything {
                throw Failure.usage("--batch and --until-idle exclude each other")
            }
            if let batch = try context.batch(.batch) { scope = .batch(batch) }
            var watching = try Watching(
                context: context, since: invocation.number(.since), scope: scope,
                printsProgress: invocation.has(.progress))
            return try watching.run()
        })
}
