import DaemonConfiguration
import DaemonRuntime
import JobLedger
package import JobModel
import PipelineModel
import ServiceProgram

/// Forgets ended jobs that exceed HistoryJobs= or History=, and ended jobs that a user has chosen.
extension Keeping {
    private static let longestSweepInterval = 3600.0

    /// Counts ended jobs. Forgets old jobs each time the count reaches an eighth of HistoryJobs=.
    func ended(_ count: Int) {
        endedSinceForgetting += count
        if endedSinceForgetting >= max(1, configuration.settings.historyJobs / 8) { forgetOld() }
    }

    /// Forgets the oldest jobs beyond HistoryJobs=, and jobs older than History=.
    func forgetOld() {
        endedSinceForgetting = 0
        let settings = configuration.settings
        let seconds = settings.history / .seconds(1)
        // While the system clock can't be trusted, no job counts as too old.
        let oldest = ages.now.map { $0 - seconds } ?? -.infinity
        ledger.forget(allBut: settings.historyJobs, endedBefore: oldest) { [self] forgotten in
            Coordination.async { [self] in
                jobs.add(forgotten, times: -1)
                // Each call removes one portion, so that urgent writes don't wait for a large removal.
                if !forgotten.isEmpty { return forgetOld() }
                ledger.forgetOrders()
                ledger.forgetBatches()
                sweeps.make(at: Timestamp.now() + min(seconds, Self.longestSweepInterval))
            }
        }
    }

    /// Forgets the chosen jobs that are over and that ended before `time`. Calls `done` with the number of forgotten
    /// jobs.
    package func forget(
        _ choice: JobChoice, endedBefore time: Double, soFar: Int = 0, done: @escaping @Sendable (Int) -> Void
    ) {
        ledger.forget(choice, endedBefore: time, except: jobs.ids) { [self] forgotten in
            Coordination.async { [self] in
                jobs.add(forgotten, times: -1)
                let count = soFar + forgotten.values.reduce(0, +)
                if !forgotten.isEmpty { return forget(choice, endedBefore: time, soFar: count, done: done) }
                ledger.forgetOrders()
                ledger.forgetBatches()
                done(count)
            }
        }
    }
}
