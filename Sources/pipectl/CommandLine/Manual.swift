/// Derives help from the table of verbs.
enum Manual {
    /// The width of help without a terminal, and the maximum width on a terminal.
    static let width = 110

    static func overview(width: Int = width) -> [Text] {
        let verbs = Verb.all.map { verb in
            (verb.alias.map { "\(verb.name), \($0)" } ?? verb.name, verb.summary)
        }
        return [
            "pipectl shows, cancels and tunes a running pipelined.", "",
            "usage: pipectl [OPTION…] [VERB] [WORD…]", "",
        ] + entries(verbs, width) + ["", "options, with every verb and anywhere:"] + table(Option.everywhere, width)
            + ["", "exit codes:"] + entries(ExitCode.allCases.map { ("\($0.rawValue)", $0.meaning) }, width)
            + ["", "`pipectl help VERB` says more about a verb. The output of --json: docs/json.md"]
    }

    static func page(_ verb: Verb, width: Int = width) -> [Text] {
        var lines: [Text] = ["\(verb.name, .strong): \(verb.summary)", ""]
        lines += usage(verb, width).map { Text($0) }
        if let alias = verb.alias { lines.append(Text("       `pipectl \(alias)` is the same")) }
        if !verb.discussion.isEmpty {
            lines += [""] + Text(verb.discussion.joined(separator: " ")).folded(to: width)
        }
        if !verb.arguments.isEmpty {
            lines += ["", "arguments:"] + entries(verb.arguments.map { ($0.name, $0.help) }, width)
        }
        if !verb.options.isEmpty { lines += ["", "options:"] + table(verb.options, width) }
        if !verb.examples.isEmpty {
            lines += ["", "examples:"] + entries(verb.examples.map { ($0.command, $0.explanation) }, width)
        }
        return lines + ["", "`pipectl help` lists the options that every verb has."]
    }

    /// Wraps a long usage line between its parts. Continuation lines are indented past the verb, if there is room.
    private static func usage(_ verb: Verb, _ width: Int) -> [String] {
        let start = "usage: pipectl \(verb.name)"
        let indent = String(repeating: " ", count: min(start.count, width / 3))
        var lines = [start]
        for part in verb.usage.replacing(" [", with: "\n[").replacing(" | ", with: "\n| ").split(separator: "\n") {
            let isFull = (lines.last ?? "").count + 1 + part.count > width
            if isFull, (lines.last ?? "").count > indent.count { lines.append(indent) }
            lines[lines.count - 1] += " " + part
        }
        return lines
    }

    private static func table(_ options: [Option], _ width: Int) -> [Text] {
        entries(options.map { ($0.written, $0.help) }, width)
    }

    /// Lists names, each with its explanation beside it, or below it if there is too little room.
    private static func entries(_ entries: [(name: String, help: String)], _ width: Int) -> [Text] {
        let (indent, leastHelp) = ("    ", 28)
        let widest = entries.map(\.name.columns).max() ?? 0
        guard indent.count + widest + 2 + leastHelp <= width else {
            return entries.flatMap { entry -> [Text] in
                let help = Text(entry.help).folded(to: width - 2 * indent.count)
                return [Text(indent) + Text(entry.name, .strong)] + help.map { Text(indent + indent) + $0 }
            }
        }
        var table = Table([.init(title: ""), .init(title: ""), .init(title: "", fit: .words)])
        for entry in entries { table.add("  ", Text(entry.name, .strong), Text(entry.help)) }
        return table.lines(width: width)
    }
}

extension Verb {
    var usageLine: String { "usage: pipectl \(name)\(usage.isEmpty ? "" : " ")\(usage)" }
}
