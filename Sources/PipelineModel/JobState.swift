/// The state of a job. `waiting` always has a reason; the last three are final.
public enum JobState: String, Codable, Sendable, CaseIterable {
    case waiting, queued, running, cancelling, done, failed, cancelled

    public var isFinal: Bool { self == .done || self == .failed || self == .cancelled }
}
