/// A completion of the present word.
struct Candidate: Encodable, Equatable {
    var word: String
    var help: String

    init(_ word: String, _ help: String = "") {
        (self.word, self.help) = (word, help)
    }

    // The shell itself has to look for files.
    static let files = Candidate(":files", "a file")
    static let folders = Candidate(":folders", "a folder")

    /// A line for a shell, which splits it at the first tab into the word and its help.
    var line: Text { help.isEmpty ? Text(word) : "\(word)\t\(help)" }
}
