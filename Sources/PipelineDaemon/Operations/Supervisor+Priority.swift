import DaemonRuntime
import JobLedger
import PipelineModel

/// What has not begun can be given another priority.
extension Supervisor {
    /// `done` is handed how many jobs have it now.
    func prioritise(_ choice: JobChoice, _ priority: Priority, done: @escaping @Coordination @Sendable (Int) -> Void) {
        // Others may come before them now, also such as are not in the window: they line up anew.
        fillHolds += 1
        for job in window.all where choice.speaks(of: job.record) && !takeBack(job) {
            if job.record.state == .waiting { job.record.priority = priority.rank }
        }
        ledger.prioritise(choice, priority) { [self] count in
            Coordination.async { [self] in
                fillHolds -= 1
                fill()
                done(count)
            }
        }
    }
}
