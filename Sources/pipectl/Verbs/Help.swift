extension Verb {
    static let help = Verb(
        name: "help",
        summary: "the verbs, or all about one",
        usage: "[VERB]",
        arguments: [Argument("VERB", count: 0...1, "a verb")],
        examples: [Example("pipectl help list", "the same as `pipectl list --help`")],
        run: { session in
            let verb = try session.invocation.arguments.first.map { try Verb.named($0) }
            switch (verb, session.json) {
            case (let verb?, true): try session.output.document(ManualDocument.Entry(verb))
            case (let verb?, false): try session.output.lines(Manual.page(verb))
            case (nil, true): try session.output.document(ManualDocument())
            case (nil, false): try session.output.lines(Manual.overview())
            }
            return .done
        })
}
