/// A completion of the word at the cursor.
struct Candidate: Encodable, Equatable {
    var word: String
    var help: String

    init(_ word: String, _ help: String = "") {
        (self.word, self.help) = (word, help)
    }

    // Markers that ask the shell to complete file names itself.
    static let files = Candidate(":files", "a file")
    static let folders = Candidate(":folders", "a folder")

    /// The line that the shell reads, and splits at the first tab into the word and its help.
    var line: Text { help.isEmpty ? Text(word) : "\(word)\t\(help)" }
}
