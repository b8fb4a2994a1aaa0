import DaemonConfiguration
package import DaemonRuntime
import Dispatch
import JobLedger
import JobModel
import OperationGraph
import PipelineModel
import ServiceProgram

/// Stops intake, the moving of originals, and the workers.
@Coordination
protocol ShutdownDelegate: AnyObject {
    func stopIntake()
    /// Starts no more moves of originals. The next start moves the remaining originals.
    func leaveOriginals()
    /// Stops the workers after the last job, and calls `done` when they have stopped. If `isRecorded`, also waits until
    /// all events are durable and the moves of originals in flight have ended.
    func stopWorkers(isRecorded: Bool, done: @escaping @Coordination @Sendable () -> Void)
}

/// Handles SIGTERM: takes no new work, lets running jobs finish, and returns all other jobs to the queue.
@Coordination
package final class Shutdown {
    private let configuration: ConfigurationInForce
    private let ledger: Ledger
    private let queues: Queues
    private let runner: JobRunner
    private let jobs: JobQueue
    weak var delegate: (any ShutdownDelegate)?
    package private(set) var isStopping = false
    /// Whether all jobs have left the window. Originals may still be moving.
    private var isDrained = false
    private var done: (@Sendable () -> Void)?

    init(
        _ configuration: ConfigurationInForce, _ ledger: Ledger, _ queues: Queues, _ runner: JobRunner,
        _ jobs: JobQueue
    ) {
        (self.configuration, self.ledger, self.queues) = (configuration, ledger, queues)
        (self.runner, self.jobs) = (runner, jobs)
    }

    func begin(_ done: @escaping @Sendable () -> Void) {
        guard !isStopping else { return }
        isStopping = true
        self.done = done
        delegate?.stopIntake()
        jobs.close()
        // Closes the download and render queues. The publish and announce queues stay open, so that rendered jobs can
        // finish.
        queues.download.close()
        queues.render.close()
        let isHeld = queues.publish.report.paused || queues.publish.report.effective == 0
        for job in jobs.all {
            let waitsForNobody = isHeld && job.render.state.isFinal && job.publish?.state != .executing
            // The render queue is closed, so the picture can't be rendered even if its download finishes.
            let isEarly = [.pending, .ready].contains(job.render.state)
            if [.queued, .waiting].contains(job.record.state) || waitsForNobody || isEarly { runner.giveBack(job) }
        }
        let settings = configuration.settings
        let running = jobs.counts[.running]
        if running > 0 {
            Log.notice("stopping: \(running) running, which have \(settings.drainTimeout.text) to finish")
        }
        check()
        // If the ledger can't record final states, no job can finish, so waiting would be useless.
        let patience = ledger.problem == nil ? settings.drainTimeout : .zero
        Coordination.after(patience) { self.drainTimedOut() }
        Coordination.after(patience + settings.cancelGrace + .seconds(5)) { self.giveUp() }
    }

    private func drainTimedOut() {
        delegate?.leaveOriginals()
        let running = jobs.all.filter { !$0.life.isPublishing }
        guard !running.isEmpty else { return }
        Log.notice("stopping: \(running.count) not finished in time, which go back to the queue")
        for job in running { runner.giveBack(job) }
    }

    /// Stops without waiting for jobs that hang, for example on a mount. The next start repairs their records.
    private func giveUp() {
        guard let done else { return }
        self.done = nil
        Log.failure(
            isDrained
                ? "stopping: originals can't be moved; the next start moves them"
                : "stopping: jobs that don't end (\(jobs.count)) are repaired at the next start")
        _ = ledger.flush(seconds: 2)
        done()
    }

    /// Continues once all jobs have left the window, and the ledger has either recorded their states or become
    /// unwritable.
    func check() {
        guard isStopping, jobs.isEmpty, !isDrained, jobs.isRecorded || ledger.problem != nil else { return }
        isDrained = true
        let isRecorded = ledger.problem == nil
        if !isRecorded {
            let reason = ledger.unwritableReason ?? ""
            Log.failure("stopping: \(reason); unrecorded changes are repaired at the next start")
        }
        delegate?.stopWorkers(isRecorded: isRecorded) { [self] in
            done?()
            done = nil
        }
    }
}
