extension Option {
    fileprivate static let since = Option(
        "--since", value: "CURSOR", "begin after this event, not now; `status --json` tells the cursor")
    fileprivate static let untilIdle = Option(
        "--until-idle", "end when no job is left; exits with 1 when one of those seen failed or was cancelled")
}

extension Verb {
    static let watch = Verb(
        name: "watch",
        summary: "follow what happens, live",
        usage: "[--since CURSOR] [--until-idle]",
        discussion: [
            "On a terminal a bar of the whole over the latest jobs, and a summary at the end; Ctrl-C ends it.",
            "Elsewhere, and with --json, one line an event.",
        ],
        options: [.since, .untilIdle],
        examples: [
            Example("pipectl watch", "the bar"),
            Example("pipectl watch --until-idle", "until all is done"),
            Example("pipectl watch --json --since 0 | jq .job.id", "every event on record, then what follows"),
        ],
        run: { context in
            var watching = try Watching(
                context: context, since: context.invocation.number(.since),
                untilIdle: context.invocation.has(.untilIdle))
            return try watching.run()
        })
}
