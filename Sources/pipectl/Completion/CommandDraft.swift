/// An unfinished command line, read by the parser's rules but without reporting mistakes.
struct CommandDraft {
    /// The word at the cursor; empty at the beginning of a word.
    let word: String
    private(set) var verb: Verb?
    private(set) var arguments: [String] = []
    private(set) var options: [String: String] = [:]
    /// The option that expects the word at the cursor as its value.
    private(set) var open: Option?
    /// The preceding option, if it takes several values: the word at the cursor may be a further value.
    private(set) var half: Option?
    private(set) var optionsAreOver = false
    /// Whether the verb is unknown, so that the words after it can't be completed.
    private(set) var isLost = false

    init(_ words: [String]) {
        word = words.last ?? ""
        for word in words.dropLast() { read(word) }
    }

    /// The option of this name, if it is valid here.
    func option(_ name: String) -> Option? { known.first { $0.isCalled(name) } }

    var known: [Option] { (verb?.options ?? []) + Option.everywhere }

    private mutating func read(_ word: String) {
        if let option = open {
            options[option.name] = word
            (open, half) = (nil, option.takesIDs ? option : nil)
        } else if half != nil, Invocation.areIDs(word) {
            return
        } else if word == "--", !optionsAreOver {
            (half, optionsAreOver) = (nil, true)
        } else if !optionsAreOver, Parser.isOption(word) {
            half = nil
            readOption(word)
        } else {
            half = nil
            readWord(word)
        }
    }

    private mutating func readOption(_ word: String) {
        let parts = Parser.parts(of: word)
        guard let option = option(parts[0]) else { return }
        options[option.name] = parts.count > 1 ? parts[1] : ""
        if option.value != nil, parts.count == 1 { open = option }
    }

    private mutating func readWord(_ word: String) {
        guard verb != nil else {
            verb = Verb.all.first { $0.isCalled(word) }
            isLost = verb == nil
            return
        }
        arguments.append(word)
    }
}
