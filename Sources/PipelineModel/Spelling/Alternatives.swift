extension [String] {
    /// "archive, delete or keep".
    var alternatives: String {
        count > 1 ? "\(dropLast().joined(separator: ", ")) or \(self[count - 1])" : joined()
    }
}
