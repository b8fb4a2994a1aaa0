/// How detailed the daemon's log is.
public enum LogDetail: String, Sendable, CaseIterable {
    /// Logs the states of jobs.
    case jobs
    /// Logs each step of each operation too.
    case operations
}
