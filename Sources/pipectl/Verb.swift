/// A verb. The parser, the help text, the help's JSON, the manual page and the completion all use this declaration.
struct Verb: Sendable {
    let name: String
    /// A shorter name for the verb.
    var alias: String?
    /// A description in one line, for the table of verbs.
    let summary: String
    /// The arguments and options after the name, as in the usage line of a manual.
    var usage = ""
    /// The details beyond the summary, in pieces that form one paragraph.
    var discussion: [String] = []
    var arguments: [Argument] = []
    var options: [Option] = []
    var examples: [Example] = []
    let run: @Sendable (Context) throws -> ExitCode

    func isCalled(_ word: String) -> Bool { name == word || alias == word }

    /// "; did you mean '--failed'?" for the word `failed`, if the verb has that option.
    func optionHint(_ word: String) -> String {
        options.contains { $0.name == "--\(word)" } ? "; did you mean '--\(word)'?" : ""
    }
}

/// A positional argument.
struct Argument: Sendable {
    let name: String
    let help: String
    /// Permitted number of occurrences.
    let count: ClosedRange<Int>
    let kinds: [WordKind]
    /// If one of these words follows the verb, such as `add` in `pipectl fleet add`, this argument replaces the verb's
    /// usual arguments. Empty for a usual argument.
    let behind: [String]

    init(
        _ name: String, count: ClosedRange<Int> = 1...1, kinds: [WordKind] = [], behind: [String] = [], _ help: String
    ) {
        (self.behind, self.name, self.kinds, self.count, self.help) = (behind, name, kinds, count, help)
    }
}

struct Example: Sendable {
    let command: String
    let explanation: String

    init(_ command: String, _ explanation: String) {
        (self.command, self.explanation) = (command, explanation)
    }
}
