extension Option {
    fileprivate static let since = Option(
        "--since", value: "CURSOR", "begin after this event, not now; `status --json` tells the cursor")
    fileprivate static let batch = Option(
        "--batch", value: "N|NAME", kinds: [.batch],
        "this batch alone, until it has ended; exits with 1 when one of its jobs failed")
    fileprivate static let progress = Option(
        "--progress", "with --json: a line for each change of progress, too")
    fileprivate static let untilIdle = Option(
        "--until-idle",
        "end when `pipectl wait` would; exits with 1 when a job that it saw failed or was cancelled")
}

extension Verb {
    static let watch = Verb(
        name: "watch",
        summary: "follow what happens, live",
        usage: "[--since CURSOR] [--batch N|NAME | --until-idle] [--timeout TIME] [--progress]",
        discussion: [
            "On a terminal each batch is a bar, with rate and remaining time when they are known, above its jobs in work.",
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
                throw Failure.usage("--progress wants --json: on a terminal progress is shown anyway")
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
