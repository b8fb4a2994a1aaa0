package import DaemonConfiguration
package import DaemonRuntime
package import JobLedger
import PipelineModel

/// Forgets ended jobs after a while.
@Coordination
package final class History {
    private let ledger: Ledger
    private let counts: JobCounts
    private let configuration: ConfigurationInForce
    private let window: Window
    private let ages: AgeClock
    /// Jobs that have ended since the latest cleanup.
    private var sinceForgetting = 0
    /// Forgets jobs that grow old while no others end.
    private lazy var sweeps = Appointment { [unowned self] _ in forgetOld() }

    private static let sweepInterval = 3600.0

    package init(
        _ ledger: Ledger, _ counts: JobCounts, _ configuration: ConfigurationInForce, _ window: Window,
        _ ages: AgeClock
    ) {
        (self.ledger, self.counts, self.configuration) = (ledger, counts, configuration)
        (self.window, self.ages) = (window, ages)
    }

    /// Counts ended jobs, and forgets old ones now and then rather than at each end.
    package func ended(_ count: Int) {
        sinceForgetting += count
        if sinceForgetting >= max(1, configuration.settings.historyJobs / 8) { forgetOld() }
    }

    /// Forgets jobs beyond HistoryJobs= and History=.
    func forgetOld() {
        sinceForgetting = 0
        let settings = configuration.settings
        let seconds = settings.history / .seconds(1)
        // While the clock is in doubt, no job is too old.
        let oldest = ages.now.map { $0 - seconds } ?? -.infinity
        ledger.forget(allBut: settings.historyJobs, endedBefore: oldest) { [self] forgotten in
            Coordination.async { [self] in
                counts.add(forgotten, times: -1)
                // One portion at a time, so that no urgent work waits behind a large one.
                if !forgotten.isEmpty { return forgetOld() }
                ledger.forgetOrders()
                ledger.forgetBatches()
                sweeps.make(at: Timestamp.now() + min(seconds, Self.sweepInterval))
            }
        }
    }

    /// Forgets the chosen jobs that are over and ended before `time`; calls `done` with their number.
    package func forget(
        _ choice: JobChoice, endedBefore time: Double, soFar: Int = 0, done: @escaping @Sendable (Int) -> Void
    ) {
        ledger.forget(choice, endedBefore: time, except: window.ids) { [self] forgotten in
            Coordination.async { [self] in
                counts.add(forgotten, times: -1)
                let count = soFar + forgotten.values.reduce(0, +)
                if !forgotten.isEmpty { return forget(choice, endedBefore: time, soFar: count, done: done) }
                ledger.forgetOrders()
                done(count)
            }
        }
    }
}
