/// What the word that is being written could become.
struct Candidate: Encodable, Equatable {
    var word: String
    var help: String

    init(_ word: String, _ help: String = "") {
        self.word = word
        self.help = help
    }

    // The shell has to look for these itself.
    static let files = Candidate(":files", "a file")
    static let folders = Candidate(":folders", "a folder")

    /// A line for a shell, which takes the word apart from the help at the first tab.
    var line: Text { help.isEmpty ? Text(word) : "\(word)\t\(help)" }
}
