extension Option {
    fileprivate static let man = Option(
        "--man", "print the manual page pipectl(1), for man: `pipectl help --man | man -l -`")
}

extension Verb {
    static let help = Verb(
        name: "help",
        summary: "the verbs, or all about one",
        usage: "[VERB | --man]",
        arguments: [Argument("VERB", count: 0...1, kinds: [.verb], "a verb")],
        options: [.man],
        examples: [Example("pipectl help list", "the same as `pipectl list --help`")],
        run: { context in
            let verb = try context.invocation.arguments.first.map { try Verb.named($0) }
            if context.invocation.has(.man) {
                guard verb == nil, !context.json else {
                    throw Failure.usage("--man prints the page of all verbs: leave out the verb and --json")
                }
                try context.output.raw(Manual.manualPage)
                return .done
            }
            let width = min(context.output.columns ?? Manual.width, Manual.width)
            switch (verb, context.json) {
            case (let verb?, true): try context.output.document(ManualDocument.Entry(verb))
            case (let verb?, false): try context.output.lines(Manual.page(verb, width: width))
            case (nil, true): try context.output.document(ManualDocument())
            case (nil, false): try context.output.lines(Manual.overview(width: width))
            }
            return .done
        })
}
