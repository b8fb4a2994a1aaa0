import PipelineControl

/// The table of verbs as JSON, for programs that generate completions or manuals.
struct ManualDocument: Encodable {
    struct Word: Encodable {
        var name: String
        var help: String
    }

    struct Flag: Encodable {
        var name: String
        @Omissible var short: String?
        @Omissible var value: String?
        var help: String

        init(_ option: Option) {
            name = option.name
            help = option.help
            short = option.short
            value = option.value
        }
    }

    struct Line: Encodable {
        var command: String
        var explanation: String
    }

    struct Entry: Encodable {
        var name: String
        @Omissible var alias: String?
        var summary: String
        var usage: String
        var discussion: [String]
        var arguments: [Word]
        var options: [Flag]
        var examples: [Line]

        init(_ verb: Verb) {
            name = verb.name
            alias = verb.alias
            summary = verb.summary
            usage = verb.usage
            discussion = verb.discussion
            arguments = verb.arguments.map { Word(name: $0.name, help: $0.help) }
            options = verb.options.map(Flag.init)
            examples = verb.examples.map { Line(command: $0.command, explanation: $0.explanation) }
        }
    }

    var verbs = Verb.all.map(Entry.init)
    var options = Option.everywhere.map(Flag.init)
}
