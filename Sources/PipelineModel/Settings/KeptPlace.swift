/// A place whose files the daemon may remove later, by a rule of [Keep].
public enum KeptPlace: String, Sendable, Hashable, Codable, CaseIterable {
    /// Originals of jobs that are done.
    case archive
    case failed
    case cancelled
    /// Published results, in any outbox.
    case results
}
