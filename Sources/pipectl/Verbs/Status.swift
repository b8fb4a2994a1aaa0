import PipelineControl

extension Verb {
    static let status = Verb(
        name: "status",
        summary: "what the daemon is doing; also without any verb",
        discussion: ["Problems come first, then the jobs, the queues, the inboxes and the files left alone."],
        examples: [
            Example("pipectl", "the overview"),
            Example("pipectl status --json | jq .jobs.failed", "one figure, for a script"),
        ],
        run: { session in
            let status = try session.call(Call.Status()).status
            if session.json {
                try session.output.document(status)
            } else {
                try session.output.lines(Overview(status: status, width: session.output.columns).lines)
            }
            return .done
        })
}
