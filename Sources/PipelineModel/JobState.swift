/// The state of a job. A `waiting` job always has a reason for waiting. The last three states are final.
public enum JobState: String, Codable, Sendable, CaseIterable {
    case waiting, queued, running, cancelling, done, failed, cancelled

    public var isFinal: Bool { self == .done || self == .failed || self == .cancelled }
}
