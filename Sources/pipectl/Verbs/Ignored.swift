import PipelineControl

extension Option {
    fileprivate static let recipe = Option(
        "--recipe", value: "RECIPE", kinds: [.recipe], "files in the inbox of this recipe only")
}

extension Verb {
    static let ignored = Verb(
        name: "ignored",
        summary: "the files that are left alone, and why",
        usage: "[--recipe RECIPE]",
        discussion: ["They are in an inbox, but are not jobs: no recipe takes them, or they can't be read."],
        options: [.recipe],
        examples: [
            Example("pipectl ignored", "all of them, by their paths"),
            Example("pipectl ignored --json | jq -r .path", "their paths alone"),
        ],
        run: { context in
            var files: [Control.Ignored] = []
            try context.client().stream(Call.ListIgnored(recipe: context.invocation.value(.recipe))) { reply in
                if context.json {
                    for file in reply.ignored { try context.output.object(file) }
                } else {
                    files += reply.ignored
                }
                return true
            }
            guard !context.json else { return .done }
            let table = Table(ignored: files)
            try context.output.lines(
                table.isEmpty ? ["no files are left alone"] : table.lines(width: context.output.columns))
            return .done
        })
}
