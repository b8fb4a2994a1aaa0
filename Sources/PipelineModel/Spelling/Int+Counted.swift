extension Int {
    /// `1 job`, `3 jobs`
    public func counted(_ word: String) -> String { "\(self) \(word)\(self == 1 ? "" : "s")" }
}
