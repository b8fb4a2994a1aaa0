/// A verb, declared once. Parsing, help and its JSON, the manual page and completion all read this, and nothing about a verb is
/// written anywhere else.
struct Verb: Sendable {
    let name: String
    /// A shorter name, as people expect it.
    var alias: String?
    /// The line in the table of verbs.
    let summary: String
    /// The words that follow the name, as in a manual.
    var usage = ""
    /// The details beyond the summary: whole paragraphs, each a line.
    var discussion: [String] = []
    var arguments: [Argument] = []
    var options: [Option] = []
    var examples: [Example] = []
    let run: @Sendable (Context) throws -> ExitCode

    func isCalled(_ word: String) -> Bool { name == word || alias == word }
}

/// A word that is not an option.
struct Argument: Sendable {
    let name: String
    let help: String
    /// How often a command may have it.
    let count: ClosedRange<Int>
    let kinds: [WordKind]
    /// After one of these first words this argument alone may follow.
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
