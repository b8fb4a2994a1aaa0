package import DaemonRuntime
package import JobModel

/// Reports the daemon's work, and the problems that keep it from working.
@Coordination
package protocol StatusReading {
    /// The status from memory alone: without workers, disks, kept files, and the reasons why jobs wait.
    func status() -> DaemonStatus
    /// The complete status. Calls `done` on a lane of the ledger.
    func fullStatus(done: @escaping @Sendable (DaemonStatus) -> Void)
    /// Adds the reasons why jobs wait, and the kept files, to a status. Reads the ledger.
    nonisolated func withReasons(_ status: DaemonStatus) -> DaemonStatus
    /// The number of jobs that failed after `time` and are still failed.
    nonisolated func failedCount(since time: Double) throws -> Int
    /// The reasons why these jobs wait. Calls `done` on a lane of the ledger.
    func waitReasons(of jobs: JobGroup, done: @escaping @Sendable (Result<[WaitingCount], any Error>) -> Void)
    /// The files that a recipe's inboxes ignore, or that all inboxes ignore. Calls `done` on a lane of the ledger.
    func ignoredFiles(of recipe: String?, done: @escaping @Sendable ([IgnoredFile]) -> Void)
    /// Collects the figures for a monitor. Calls `done` on a lane of the ledger.
    func measure(done: @escaping @Sendable (Result<Measurements, any Error>) -> Void)
}
