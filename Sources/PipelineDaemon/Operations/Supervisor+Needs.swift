import DaemonRuntime
import JobLedger
import PipelineModel
import SystemCalls

/// Jobs that come after others wait as rows; the ledger releases them, or lets them fail, in the transaction in which the others end.
extension Supervisor {
    /// The end of jobs, or somebody's wish, has changed others.
    func adopt(_ consequences: Consequences) {
        for (state, count) in consequences.counts { counts[state, default: 0] += count }
        if !consequences.failed.isEmpty {
            Log.failure(
                "\(Self.said(consequences.failed)) failed: what it comes after did, or was cancelled; `pipectl show` says more",
                of: LogSubject(jobs: consequences.failed))
            disposeBacklog()
            forgetOld(ended: consequences.failed.count)
        }
        if let released = consequences.released { fill(arrived: released) }
        checkWaiters()
    }

    private static func said(_ ids: [Int]) -> String {
        ids.count == 1 ? "job \(ids[0])" : "job \(ids[0]), and \(ids.count - 1) more:"
    }

    /// A job that is in the window, and has not begun, is a row again; false when it has begun.
    func takeBack(_ job: Job) -> Bool {
        guard job.record.state == .queued, !job.cancelRequested, !job.returning, job.withdraw() else { return false }
        job.returning = true
        settleCancelling(job)
        return true
    }

    /// Changes what a job comes after, as long as it has not begun.
    func depend(
        _ id: Int, after others: [Int], remove: [Int], anyway: Bool,
        done: @escaping @Coordination @Sendable (Ledger.NeedsAnswer) -> Void
    ) {
        if let job = window[id], !takeBack(job) { return done(.begun(job.record.state)) }
        // The row is not taken into the window while it is being changed.
        fillHolds += 1
        ledger.depend(id, after: others, remove: remove, anyway: anyway) { [self] answer in
            Coordination.async { [self] in
                fillHolds -= 1
                fill()
                done(answer)
            }
        }
    }

    /// Records new jobs that come after others.
    func enter(
        _ records: [JobRecord], batch: BatchRecord? = nil, after others: [Int],
        done: @escaping @Coordination @Sendable (Ledger.NeedsAnswer) -> Void
    ) {
        ledger.insert(records, batch: batch, after: others) { answer in Coordination.async { done(answer) } }
    }
}
