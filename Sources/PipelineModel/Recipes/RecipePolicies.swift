/// What becomes of an original whose job is done.
public enum OriginalPolicy: String, Sendable, Hashable, Codable, CaseIterable {
    case archive, delete, keep
}

/// What happens to a picture whose end is missing.
public enum TruncatedPolicy: String, Sendable, Hashable, Codable, CaseIterable {
    case fail
    /// What is there is rendered.
    case accept
}

/// What happens when a result's name is taken in the outbox.
public enum ConflictPolicy: String, Sendable, Hashable, Codable, CaseIterable {
    /// The new one gets `-1`, `-2`, ….
    case number
    case replace
    case skip
}
