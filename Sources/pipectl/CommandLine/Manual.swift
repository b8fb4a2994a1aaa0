/// Derives help from the table of verbs.
enum Manual {
    static func overview() -> [Text] {
        var verbs = plainTable()
        for verb in Verb.all {
            let name = verb.alias.map { "\(verb.name), \($0)" } ?? verb.name
            verbs.add("  ", Text(name, .strong), Text(verb.summary))
        }
        var codes = plainTable()
        for code in ExitCode.allCases { codes.add("  ", "\(Int(code.rawValue), .strong)", Text(code.meaning)) }
        return [
            "pipectl shows, cancels and tunes a running pipelined.", "",
            "usage: pipectl [OPTION…] [VERB] [WORD…]", "",
        ] + verbs.lines(width: nil) + ["", "options, with every verb and anywhere:"] + table(Option.everywhere)
            + ["", "exit codes:"] + codes.lines(width: nil)
            + ["", "`pipectl help VERB` says more of one. Documents of --json: docs/json.md"]
    }

    static func page(_ verb: Verb) -> [Text] {
        var lines: [Text] = ["\(verb.name, .strong): \(verb.summary)", ""]
        lines += usage(verb).map { Text($0) }
        if let alias = verb.alias { lines.append(Text("       `pipectl \(alias)` is the same")) }
        if !verb.discussion.isEmpty { lines += [""] + verb.discussion.map { Text($0) } }
        if !verb.arguments.isEmpty {
            var arguments = plainTable()
            for argument in verb.arguments { arguments.add("  ", Text(argument.name, .strong), Text(argument.help)) }
            lines += ["", "arguments:"] + arguments.lines(width: nil)
        }
        if !verb.options.isEmpty { lines += ["", "options:"] + table(verb.options) }
        if !verb.examples.isEmpty {
            var examples = plainTable()
            for example in verb.examples {
                examples.add("  ", Text(example.command, .strong), Text(example.explanation))
            }
            lines += ["", "examples:"] + examples.lines(width: nil)
        }
        return lines + ["", "`pipectl help` lists the options that every verb has."]
    }

    /// Wraps a long usage line; continuation lines are indented past the verb.
    private static func usage(_ verb: Verb) -> [String] {
        let start = "usage: pipectl \(verb.name)"
        var lines = [start]
        for part in verb.usage.replacing(" [", with: "\n[").split(separator: "\n") {
            if (lines.last ?? "").count + part.count >= 110 { lines.append(String(repeating: " ", count: start.count)) }
            lines[lines.count - 1] += " " + part
        }
        return lines
    }

    private static func table(_ options: [Option]) -> [Text] {
        var table = plainTable()
        for option in options { table.add("  ", Text(option.written, .strong), Text(option.help)) }
        return table.lines(width: nil)
    }

    private static func plainTable() -> Table {
        Table([.init(title: ""), .init(title: ""), .init(title: "")])
    }
}

extension Verb {
    var usageLine: String { "usage: pipectl \(name)\(usage.isEmpty ? "" : " ")\(usage)" }
}
