import PipelineControl

extension Option {
    fileprivate static let all = Option("--all", short: "-a", "all batches with jobs on record")
}

extension Verb {
    private static let newest = 20

    static let batches = Verb(
        name: "batches",
        summary: "list the batches, each with its jobs by state",
        usage: "[--all]",
        discussion: [
            "A batch contains the jobs of one list of URLs, of one dropped folder, or of one `pipectl add`. Without",
            "--all, lists the newest \(newest) and all that have not ended; the newest come last.",
            "An open batch may still get jobs, and does not pass a barrier.",
            "--batch of other verbs takes the number or the name. If several batches have the name, it means the newest.",
        ],
        options: [.all],
        examples: [
            Example("pipectl batches", "the latest"),
            Example("pipectl list --batch lucerne", "the jobs of one batch"),
            Example("pipectl batches --all --json | jq 'select(.failed > 0).name'", "batches with failures"),
        ],
        run: { context in
            var batches: [Control.Batch] = []
            let call = Call.Batches(limit: context.invocation.has(.all) ? nil : newest)
            try context.client().stream(call) { reply in
                if context.json {
                    for batch in reply.batches { try context.output.object(batch) }
                } else {
                    batches += reply.batches
                }
                return true
            }
            guard !context.json else { return .done }
            let table = Table(batches)
            try context.output.lines(table.isEmpty ? ["no batches"] : table.lines(width: context.output.columns))
            return .done
        })
}

extension Table {
    init(_ batches: [Control.Batch]) {
        self.init([
            .init(title: "BATCH", right: true), .init(title: "NAME", fit: .name), .init(title: "RECIPE", spare: 3),
            .init(title: "CREATED", spare: 2),
            .init(title: "ENDED", spare: 1), .init(title: "JOBS", fit: .words),
        ])
        for batch in batches {
            let end: Text =
                batch.ended.map { Text(Moment.local($0), .faint) } ?? (batch.open ? Text("open", .busy) : "")
            add(
                "\(batch.id)", .name(batch.name ?? ""), Text(batch.recipe ?? ""),
                Text(batch.created.map { Moment.local($0) } ?? "", .faint), end,
                Text(batch.counts, batch.failed > 0 ? .bad : .plain))
        }
    }
}

extension Context {
    /// The number of the batch that the option chooses. The option's value is the batch's number or its name.
    func batch(_ option: Option) throws -> Int? {
        guard let word = invocation.value(option) else { return nil }
        let reply = try call(Call.FindBatch(batch: word))
        if reply.others > 0 {
            try output.flush()
            Program.say(reply, reply.ambiguity(of: word), json: json)
        }
        return reply.batch.id
    }
}

extension Call.FindBatch.Reply {
    fileprivate func ambiguity(of word: String) -> String {
        let (others, have) = ("\(Amount.counted(others, "other"))", others == 1 ? "has" : "have")
        let advice = "`pipectl batches --all` lists them"
        return batch.name == word
            ? "batch \(batch.id) is the newest called '\(word)', and \(others) \(have) that name; \(advice)"
            : "batch \(batch.id) has that number, and \(others) \(have) the name '\(word)'; \(advice)"
    }
}
