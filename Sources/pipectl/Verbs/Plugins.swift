import PipelineControl
import PipelineModel

extension Option {
    fileprivate static let language = Option(
        "--language", value: "LANGUAGE", kinds: [.oneOf(FilterStart.Language.allCases.map(\.rawValue))],
        "with new: swift, c or c++")
}

extension Verb {
    static let plugins = Verb(
        name: "plugins",
        summary: "the stages of chains, their manuals, and filters of your own",
        usage:
            "[[show] NAME] | new NAME --language swift|c|c++ | try FILE [NAME=VALUE]… PICTURE RESULT | check FILE [NAME=VALUE]…",
        discussion: [
            "The list also has the plugins that were skipped, with the reasons.",
            "`new` writes a working filter into the folder NAME: docs/writing-a-filter.md explains it.",
            "`try` renders one picture with the filter in FILE, and prints time and memory. `check` tests it with pictures",
            "of all kinds, tests its promises, and prints a report; required parameters follow the file. Both run it in",
            "a worker like the daemon's, and need no daemon.",
        ],
        arguments: [
            Argument(
                "show|new|try|check", count: 0...1, kinds: [.oneOf(pluginWords)],
                "print a manual (the default); start a filter; try or check one"),
            Argument("NAME", count: 0...1, kinds: [.stage], "the stage's name, or the new filter's"),
            Argument(
                "FILE…", count: 0...Int.max, kinds: [.file], behind: ["try", "check"],
                "the filter and its parameters; for try also a picture and a file for the result"),
        ],
        options: [.language],
        examples: [
            Example("pipectl plugins", "all stages"),
            Example("pipectl plugins show noir", "one stage, with its parameters"),
            Example("pipectl plugins new glow --language swift", "start a filter of your own"),
            Example("pipectl plugins try ./glow.so amount=0.8 beach.jpg glow.png", "one picture, as in service"),
            Example("pipectl plugins check ./glow.so", "does it keep what it promises?"),
        ],
        run: { context in
            let words = context.invocation.arguments
            if let trial = words.first.flatMap(FilterTrial.init) {
                try trial.run(words.dropFirst(), json: context.json)
            }
            if words.first == "new" {
                try begin(context)
                return .done
            }
            guard !context.invocation.has(.language) else {
                throw Failure.usage("--language is for a new filter: pipectl plugins new NAME --language swift|c|c++")
            }
            let name = try wanted(words)
            let reply = try context.call(Call.Plugins())
            guard let name else {
                try list(reply, context)
                return .done
            }
            guard let stage = reply.stages.first(where: { $0.name == name }) else {
                let hint = didYouMean(name, among: reply.stages.map(\.name))
                throw Failure(
                    "NoSuchStage", "there is no stage '\(name)'\(hint)\n`pipectl plugins` lists them", .usage)
            }
            if context.json {
                try context.output.document(stage)
            } else {
                try context.output.lines(StageManual(stage: stage, width: context.output.columns).lines)
            }
            return .done
        })

    private static let pluginWords = ["show", "new", "try", "check"]

    private static func wanted(_ words: [String]) throws(Failure) -> String? {
        let names = words.first == "show" && words.count > 1 ? words.dropFirst() : words[...]
        guard names.count < 2 else {
            guard let meant = nearest(words[0], among: pluginWords), meant != words[0] else {
                throw .usage("unexpected '\(names.dropFirst().joined(separator: " "))'\n\(plugins.usageLine)")
            }
            throw .usage("unexpected '\(words[0])'; did you mean '\(meant)'?\n\(plugins.usageLine)")
        }
        return names.first
    }

    /// Writes the files of a new filter; no daemon is needed.
    private static func begin(_ context: Context) throws {
        let words = context.invocation.arguments.dropFirst()
        guard let name = words.first,
            let language = try context.invocation.choice(.language, among: FilterStart.Language.self)
        else { throw Failure.usage("new needs a name and a language: pipectl plugins new glow --language swift|c|c++") }
        let start = try FilterStart(name, language)
        try start.write()
        guard !context.json else { return try context.output.document(start) }
        for path in start.files.keys.sorted() { try context.output.line("\("wrote", .good) \(path)") }
        try context.output.line(
            """

            Build it:  cd \(name) && \(start.build)
            Try it:    pipectl plugins try \(name)/\(start.product) PICTURE RESULT.png
            Check it:  pipectl plugins check \(name)/\(start.product)
            Use it:    copy \(name)/\(start.product) to a plugin folder, then `pipectl reload`
            """)
    }

    private static func list(_ reply: Call.Plugins.Reply, _ context: Context) throws {
        if context.json {
            for stage in reply.stages { try context.output.object(stage) }
            for skipped in reply.skipped { try context.output.object(skipped) }
            return
        }
        var table = Table([
            .init(title: "STAGE"), .init(title: "VERSION", spare: 1), .init(title: "STATE"),
            .init(title: "DOES", fit: .words), .init(title: "PARAMETERS", fit: .words, spare: 2),
            .init(title: "FROM", fit: .name, spare: 3),
        ])
        for stage in reply.stages {
            table.add(
                Text(stage.name, .strong), Text(stage.version ?? ""),
                Text(stage.state, stage.reason == nil ? .faint : .bad), Text(stage.summary),
                Text(stage.parameters.map(\.name).joined(separator: " ")), Text(stage.file ?? "", .faint))
        }
        try context.output.lines(table.lines(width: context.output.columns))
        for skipped in reply.skipped {
            try context.output.line("\("skipped", .bad) \(skipped.file): \(skipped.reason)")
        }
    }
}
