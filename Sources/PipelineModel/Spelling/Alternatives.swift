extension [String] {
    /// Joins the words with "or": "archive, delete or keep".
    var alternatives: String { joined(by: "or") }

    /// Joins the words with "and": "archive, delete and keep".
    var enumeration: String { joined(by: "and") }

    private func joined(by word: String) -> String {
        count > 1 ? "\(dropLast().joined(separator: ", ")) \(word) \(self[count - 1])" : joined()
    }
}
