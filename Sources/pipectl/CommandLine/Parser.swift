import PipelineModel

/// Parses the command line according to the tables of verbs and options.
struct Parser {
    private var verb: Verb?
    private var arguments: [String] = []
    private var options: [String: [String]] = [:]

    static func parse(_ words: [String]) throws(Failure) -> Invocation {
        var parser = Parser()
        try parser.read(words)
        return try parser.finish()
    }

    /// The verb of a command line, even if the words after it are invalid.
    static func verb(in words: [String]) -> Verb? {
        var parser = Parser()
        try? parser.read(words)
        return parser.verb
    }

    private mutating func read(_ words: [String]) throws(Failure) {
        var rest = words[...]
        while let word = rest.popFirst() {
            if word == "--" {
                for word in rest { try take(word) }
                return
            }
            if Self.isOption(word) {
                try takeOption(word, &rest)
            } else {
                try take(word)
            }
        }
    }

    /// Whether the word is an option. Negative numbers such as `-3`, and a single `-`, are arguments.
    static func isOption(_ word: String) -> Bool {
        guard word.hasPrefix("-"), let second = word.dropFirst().first else { return false }
        return !second.isNumber
    }

    private mutating func take(_ word: String) throws(Failure) {
        if verb == nil {
            verb = try Verb.named(word)
        } else {
            arguments.append(word)
        }
    }

    private mutating func takeOption(_ word: String, _ rest: inout ArraySlice<String>) throws(Failure) {
        let known = Option.everywhere + (verb?.options ?? [])
        let parts = Self.parts(of: word)
        guard let option = known.first(where: { $0.isCalled(parts[0]) }) else {
            let place = verb.map { " for \($0.name)" } ?? ""
            let near = didYouMean(parts[0], among: known.map(\.name))
            throw .usage("unknown option '\(parts[0])'\(place)\(near)\n\(hint)")
        }
        let name = option.name
        guard let kind = option.value else {
            if parts.count > 1 { throw .usage("\(name) takes no value\n\(hint)") }
            options[name, default: []].append("")
            return
        }
        guard let value = parts.count > 1 ? parts[1] : rest.popFirst(), !value.isEmpty else {
            throw .usage("\(name) needs a value: \(name) \(kind)\n\(hint)")
        }
        options[name, default: []].append(value)
        while option.takesIDs, let next = rest.first, Invocation.areIDs(next) {
            options[name, default: []].append(next)
            rest.removeFirst()
        }
    }

    /// Splits a word such as `--limit=5` or `-n5` into the option's name and, if there is one, its value.
    static func parts(of word: String) -> [String] {
        guard word.hasPrefix("--") else {
            return [String(word.prefix(2)), String(word.dropFirst(2))].filter { !$0.isEmpty }
        }
        return word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    }

    private var hint: String {
        verb.map { "`pipectl help \($0.name)` shows how to use it" } ?? "`pipectl help` lists the verbs"
    }

    private func finish() throws(Failure) -> Invocation {
        if options[Option.help.name] != nil {
            return Invocation(verb: .help, arguments: verb.map { [$0.name] } ?? [], options: options)
        }
        if options[Option.version.name] != nil { return Invocation(verb: .version, options: options) }
        let verb = verb ?? .status
        let least = verb.arguments.reduce(0) { $0 + $1.count.lowerBound }
        if arguments.count < least, let missing = verb.arguments.first {
            throw .usage("\(verb.name) needs \(missing.name)\n\(verb.usageLine)\n\(hint)")
        }
        let most = verb.arguments.reduce(0) { $0 + min($1.count.upperBound, Int.max - $0) }
        if arguments.count > most {
            let meant = verb.optionHint(arguments[most])
            throw .usage("unexpected '\(arguments[most])'\(meant)\n\(verb.usageLine)\n\(hint)")
        }
        return Invocation(verb: verb, arguments: arguments, options: options)
    }
}
