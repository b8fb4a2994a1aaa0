/// How detailed the daemon's log is.
public enum LogDetail: String, Sendable, CaseIterable {
    /// States of jobs.
    case jobs
    /// Also each step of each operation.
    case operations
}
