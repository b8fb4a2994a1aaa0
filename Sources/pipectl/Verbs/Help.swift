extension Verb {
    static let help = Verb(
        name: "help",
        summary: "the verbs, or all about one",
        usage: "[VERB]",
        arguments: [Argument("VERB", count: 0...1, "a verb")],
        examples: [Example("pipectl help list", "the same as `pipectl list --help`")],
        run: { context in
            let verb = try context.invocation.arguments.first.map { try Verb.named($0) }
            switch (verb, context.json) {
            case (let verb?, true): try context.output.document(ManualDocument.Entry(verb))
            case (let verb?, false): try context.output.lines(Manual.page(verb))
            case (nil, true): try context.output.document(ManualDocument())
            case (nil, false): try context.output.lines(Manual.overview())
            }
            return .done
        })
}
