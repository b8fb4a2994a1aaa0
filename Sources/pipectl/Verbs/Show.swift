import PipelineControl

extension Verb {
    static let show = Verb(
        name: "show",
        summary: "one job's whole story",
        usage: "ID",
        arguments: [Argument("ID", "the job's number, as `pipectl list` shows it")],
        examples: [Example("pipectl show 12", "its input, results, times, sizes, chains and operations")],
        run: { session in
            guard let id = try session.invocation.ids().first else { return .usage }
            let story = try session.call(Call.Show(id: id)).story
            if session.json {
                try session.output.document(story)
            } else {
                try session.output.lines(StoryPage(story: story, width: session.output.columns).lines)
            }
            return .done
        })
}
