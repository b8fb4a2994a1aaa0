import DaemonRuntime
import InboxWatching
import OperationGraph
import PipelineModel
import Synchronization
import WorkerPools

/// SIGTERM: nothing new is taken, what runs may finish, the rest goes back to the queue.
extension Supervisor {
    nonisolated func stop(_ done: @escaping @Sendable () -> Void) {
        Coordination.async { [self] in
            guard !stopping else { return }
            stopping = true
            drained = done
            for inbox in inboxes { inbox.stop() }
            // Downloading and rendering close; publishing and announcing go on with what has been rendered.
            download.close()
            render.close()
            let isHeld = publish.report.paused || publish.report.effective == 0
            for job in window.all {
                let waitsForNobody = isHeld && job.render.state.isFinal && job.publish?.state != .executing
                // What is being downloaded could not be rendered any more.
                let isEarly = [.pending, .ready].contains(job.render.state)
                if [.queued, .waiting].contains(job.record.state) || waitsForNobody || isEarly { giveBack(job) }
            }
            let running = counts[.running] ?? 0
            if running > 0 {
                Log.notice("stopping: \(running) running, which have \(settings.drainTimeout.text) to finish")
            }
            tellChange()
            checkDrained()
            Coordination.after(settings.drainTimeout) { self.drainTimedOut() }
            Coordination.after((settings.drainTimeout + settings.cancelGrace + .seconds(5))) {
                self.giveUp()
            }
        }
    }

    private func giveBack(_ job: Job) {
        guard !job.publishing, !job.ended, !job.cancelRequested else { return }
        job.returning = true
        job.cancelOperations()
        settleCancelling(job)
    }

    private func drainTimedOut() {
        timeIsUp.withLock { $0 = true }
        let running = window.all.filter { !$0.publishing }
        guard !running.isEmpty else { return }
        Log.notice("stopping: \(running.count) not finished in time, which go back to the queue")
        for job in running { giveBack(job) }
    }

    /// Something hangs, a mount for example: what it holds up is put right at the next start.
    private func giveUp() {
        guard let drained else { return }
        self.drained = nil
        Log.failure(
            isDrained
                ? "stopping: originals can't be moved; they are at the next start"
                : "stopping: \(window.count) jobs can't be brought to an end; they are put right at the next start")
        _ = ledger.flush(seconds: 2)
        drained()
    }

    func checkDrained() {
        guard stopping, window.isEmpty, ending.isEmpty, !isDrained else { return }
        isDrained = true
        whenAnnounced { [self] in
            pool.stop { [self] in
                fetch.stop { [self] in
                    whenDisposed { [self] in
                        _ = ledger.flush(seconds: 10)
                        Coordination.async { [self] in
                            drained?()
                            drained = nil
                        }
                    }
                }
            }
        }
    }
}
