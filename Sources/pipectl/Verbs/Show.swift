import PipelineControl

extension Verb {
    static let show = Verb(
        name: "show",
        summary: "one job's whole story",
        usage: "ID",
        arguments: [Argument("ID", kinds: [.anyJob], "the job's number, as `pipectl list` shows it")],
        examples: [Example("pipectl show 12", "its input, results, times, sizes, chains and operations")],
        run: { context in
            guard let id = try context.invocation.ids().first else { return .usage }
            let story = try context.call(Call.Show(id: id)).story
            if context.json {
                try context.output.document(story)
            } else {
                try context.output.lines(StoryPage(story: story, width: context.output.columns).lines)
            }
            return .done
        })
}
