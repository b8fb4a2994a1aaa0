import DaemonRuntime
import JobLedger
import PipelineModel

/// Ended jobs are remembered for a while, and not for ever.
extension Supervisor {
    /// Called at the start and whenever jobs have ended: forgets what is beyond HistoryJobs and History, not at each single one.
    func forgetOld(ended: Int) {
        sinceForgetting += ended
        guard ended == 0 || sinceForgetting >= max(1, settings.historyJobs / 8) else { return }
        sinceForgetting = 0
        let seconds = settings.history / .seconds(1)
        ledger.forget(allBut: settings.historyJobs, endedBefore: Timestamp.now() - seconds) {
            [self] forgotten in
            Coordination.async { [self] in
                for (state, count) in forgotten { counts[state, default: 0] -= count }
                // A portion at a time, so that nothing urgent waits behind a large one.
                if !forgotten.isEmpty { return forgetOld(ended: 0) }
                ledger.forgetOrders()
                sweeps.make(at: Timestamp.now() + min(seconds, Self.sweepInterval))
            }
        }
    }

    /// Where nothing ends, jobs grow old all the same.
    private static let sweepInterval = 3600.0
}
