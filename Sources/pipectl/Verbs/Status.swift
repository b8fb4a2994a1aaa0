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
        run: { context in
            let status = try context.call(Call.Status()).status
            if context.json {
                try context.output.document(status)
            } else {
                let progress = status.jobs.running > 0 ? try context.call(Call.Progress()) : nil
                try context.output.lines(
                    Overview(status: status, progress: progress, width: context.output.columns).lines)
            }
            return .done
        })
}
