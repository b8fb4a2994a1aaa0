/// Where the daemon leaves files that a rule of [Keep] may remove later.
public enum KeptPlace: String, Sendable, Hashable, Codable, CaseIterable {
    /// Originals of jobs that are done.
    case archive
    case failed
    case cancelled
    /// Published results, in any outbox.
    case results
}
