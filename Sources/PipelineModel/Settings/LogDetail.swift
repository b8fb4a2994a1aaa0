/// The detail of the daemon's log.
public enum LogDetail: String, Sendable, CaseIterable {
    /// The log has the states of jobs.
    case jobs
    /// The log has each step of each operation, too.
    case operations
}
