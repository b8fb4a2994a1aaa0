/// How much the daemon's log tells.
public enum LogDetail: String, Sendable, CaseIterable {
    /// What becomes of jobs.
    case jobs
    /// Each step of each of their operations, too.
    case operations
}
