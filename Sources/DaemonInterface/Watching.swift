package import DaemonRuntime
package import JobModel

/// Reports events, progress, and the ends of jobs.
@Coordination
package protocol Watching {
    /// The cursor of the latest event.
    nonisolated var cursor: Int { get }
    /// Events after `cursor`, each with the current record of its job or batch. Reads the ledger.
    nonisolated func events(
        after cursor: Int, limit: Int
    ) throws -> [(event: LoggedEvent, job: JobRecord?, batch: BatchRecord?)]
    /// The progress of one batch, or of all work if `batch` is nil, with at most `limit` batches and jobs. Nil if the
    /// batch does not exist.
    func progress(of batch: Int?, limit: Int) throws -> ProgressReport?
    /// Reports each of these jobs when it is over, including jobs that are over already.
    func wait(for jobs: JobGroup, _ waiter: Waiter)
    /// Drops waiters whose client has disconnected.
    func dropWaiters()
}

/// A client that waits for jobs to end.
package struct Waiter {
    /// Called with jobs that are over. Jobs that ended together may be reported in one call.
    package var each: @Sendable ([JobEnd]) -> Void
    /// Called when no more jobs will be reported.
    package var done: @Sendable () -> Void
    /// Called with the reason that delays the remaining jobs, and with nil when the delay is over.
    package var delayed: @Sendable (String?) -> Void
    /// False once the client has disconnected.
    package var isWanted: @Sendable () -> Bool

    package init(
        each: @escaping @Sendable ([JobEnd]) -> Void, done: @escaping @Sendable () -> Void,
        delayed: @escaping @Sendable (String?) -> Void = { _ in }, isWanted: @escaping @Sendable () -> Bool = { true }
    ) {
        (self.each, self.done, self.delayed, self.isWanted) = (each, done, delayed, isWanted)
    }
}
