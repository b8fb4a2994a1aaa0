import PipelineControl

extension Verb {
    static let log = Verb(
        name: "log",
        summary: "the history of one job, a line for each change",
        usage: "ID",
        discussion: [
            "The daemon remembers HistoryEvents= changes of all jobs. `pipectl show` shows the job as it is",
            "now, and `pipectl watch` follows all changes.",
        ],
        arguments: [Argument("ID", kinds: [.anyJob], "the job's number, as `pipectl list` shows it")],
        examples: [Example("pipectl log 12", "when it came, waited, ran and ended, and why")],
        run: { context in
            guard let id = try context.invocation.ids().first else { return .usage }
            let events = try context.call(Call.Log(id: id)).events
            try EventLines(output: context.output, json: context.json).show(events)
            return .done
        })
}
