import DaemonConfiguration
package import DaemonRuntime
import Dispatch
import FleetSharing
import JobLedger
import OperationGraph
import PictureFiles
import PipelineModel
import WorkerPools

/// Handles SIGTERM: takes no new work, lets running jobs finish, and returns the rest to the queue.
@Coordination
package final class Shutdown {
    private let configuration: ConfigurationInForce
    private let ledger: Ledger
    private let queues: Queues
    private let states: JobStates
    private let window: Window
    private let counts: JobCounts
    private let inboxes: Inboxes
    private let announcements: Announcements
    private let originals: OriginalMover
    private let pool: WorkerPool
    private let fetch: FetchPool
    private let fleet: FleetMember
    package private(set) var isStopping = false
    /// No job is in work any more; originals may still be on their way.
    private var isDrained = false
    private var done: (@Sendable () -> Void)?

    init(
        _ configuration: ConfigurationInForce, _ ledger: Ledger, _ queues: Queues, _ states: JobStates,
        _ window: Window, _ counts: JobCounts, _ inboxes: Inboxes, _ announcements: Announcements,
        _ originals: OriginalMover, _ pool: WorkerPool, _ fetch: FetchPool, _ fleet: FleetMember
    ) {
        (self.configuration, self.ledger, self.queues) = (configuration, ledger, queues)
        (self.states, self.window, self.counts, self.inboxes) = (states, window, counts, inboxes)
        (self.announcements, self.originals, self.pool, self.fetch) = (announcements, originals, pool, fetch)
        self.fleet = fleet
    }

    func begin(_ done: @escaping @Sendable () -> Void) {
        guard !isStopping else { return }
        isStopping = true
        self.done = done
        inboxes.stop()
        window.close()
        // Downloading and rendering close; publishing and announcing finish the rendered jobs.
        queues.download.close()
        queues.render.close()
        let isHeld = queues.publish.report.paused || queues.publish.report.effective == 0
        for job in window.all {
            let waitsForNobody = isHeld && job.render.state.isFinal && job.publish?.state != .executing
            // Its picture could not be rendered any more, even if its download finished.
            let isEarly = [.pending, .ready].contains(job.render.state)
            if [.queued, .waiting].contains(job.record.state) || waitsForNobody || isEarly { states.giveBack(job) }
        }
        let settings = configuration.settings
        let running = counts[.running]
        if running > 0 {
            Log.notice("stopping: \(running) running, which have \(settings.drainTimeout.text) to finish")
        }
        check()
        // If the ledger can't record ends, nothing can finish.
        let patience = ledger.problem == nil ? settings.drainTimeout : .zero
        Coordination.after(patience) { self.drainTimedOut() }
        Coordination.after(patience + settings.cancelGrace + .seconds(5)) { self.giveUp() }
    }

    private func drainTimedOut() {
        originals.leaveRest()
        let running = window.all.filter { $0.phase != .publishing }
        guard !running.isEmpty else { return }
        Log.notice("stopping: \(running.count) not finished in time, which go back to the queue")
        for job in running { states.giveBack(job) }
    }

    /// Stops without jobs that hang, for example on a mount. The next start puts them right.
    private func giveUp() {
        guard let done else { return }
        self.done = nil
        Log.failure(
            isDrained
                ? "stopping: originals can't be moved; they are at the next start"
                : "stopping: \(window.count) jobs can't be brought to an end; they are put right at the next start")
        _ = ledger.flush(seconds: 2)
        done()
    }

    /// Continues once all jobs have left the window and the ledger has recorded their ends, or has failed to.
    func check() {
        guard isStopping, window.isEmpty, !isDrained, window.isRecorded || ledger.problem != nil else { return }
        isDrained = true
        guard ledger.problem == nil else { return stopUnrecorded() }
        announcements.whenAnnounced { [self] in
            fleet.stop { [self] in
                pool.stop { [self] in
                    fetch.stop { [self] in
                        originals.whenDisposed { [self] in
                            Coordination.async { [self] in
                                done?()
                                done = nil
                            }
                        }
                    }
                }
            }
        }
    }

    /// Stops without waiting for a ledger that can't be written.
    private func stopUnrecorded() {
        Log.failure("stopping: \(ledger.unwritableReason ?? ""); what is not recorded is put right at the next start")
        fleet.stop { [self] in
            pool.stop { [self] in
                fetch.stop { [self] in
                    Coordination.async { [self] in
                        done?()
                        done = nil
                    }
                }
            }
        }
    }
}
