import DaemonConfiguration
import DaemonRuntime
package import JobLedger
import PipelineModel

/// Forgets ended jobs after a while.
extension JobQueue {
    private static let longestSweepInterval = 3600.0

    /// Counts ended jobs, and forgets old ones now and then rather than at each end.
    func ended(_ count: Int) {
        endedSinceForgetting += count
        if endedSinceForgetting >= max(1, configuration.settings.historyJobs / 8) { forgetOld() }
    }

    /// Forgets jobs beyond HistoryJobs= and History=.
    func forgetOld() {
        endedSinceForgetting = 0
        let settings = configuration.settings
        let seconds = settings.history / .seconds(1)
        // While the clock is in doubt, no job is too old.
        let oldest = ages.now.map { $0 - seconds } ?? -.infinity
        ledger.forget(allBut: settings.historyJobs, endedBefore: oldest) { [self] forgotten in
            Coordination.async { [self] in
                add(forgotten, times: -1)
                // One portion at a time, so that no urgent work waits behind a large one.
                if !forgotten.isEmpty { return forgetOld() }
                ledger.forgetOrders()
                ledger.forgetBatches()
                sweeps.make(at: Timestamp.now() + min(seconds, Self.longestSweepInterval))
            }
        }
    }

    /// Forgets the chosen jobs that are over and ended before `time`; calls `done` with their number.
    package func forget(
        _ choice: JobChoice, endedBefore time: Double, soFar: Int = 0, done: @escaping @Sendable (Int) -> Void
    ) {
        ledger.forget(choice, endedBefore: time, except: ids) { [self] forgotten in
            Coordination.async { [self] in
                add(forgotten, times: -1)
                let count = soFar + forgotten.values.reduce(0, +)
                if !forgotten.isEmpty { return forget(choice, endedBefore: time, soFar: count, done: done) }
                ledger.forgetOrders()
                ledger.forgetBatches()
                done(count)
            }
        }
    }
}
