import DaemonInterface
package import DaemonRuntime
import Dispatch
import PipelineControl
import PipelineModel
import ServiceProgram
import Synchronization

/// Updates the line that `systemctl status` shows, after changes, at most once a second.
@Coordination
package final class ServiceStatus {
    private static let pause = DispatchTimeInterval.seconds(1)

    private let service: ControlService
    private let isDue = Atomic(false)
    private var latest: DispatchTime?
    private var reported = ""
    /// `count` is the number of jobs that failed today. It stays valid while the number of all failed jobs is `all` and
    /// the last midnight is `since`.
    private var failed = (all: 0, since: 0.0, count: 0)

    package nonisolated init(of service: ControlService) {
        self.service = service
    }

    /// Schedules an update after a possible change. Any thread may call this method, and as often as it likes, because
    /// calls are merged.
    package nonisolated func changed() {
        guard ServiceManager.isListening, !isDue.exchange(true, ordering: .relaxed) else { return }
        Coordination.async { [self] in
            let time = max(.now(), latest.map { $0 + Self.pause } ?? .now())
            Coordination.at(time) { self.look() }
        }
    }

    private func look() {
        latest = .now()
        isDue.store(false, ordering: .relaxed)
        let daemon = service.daemon
        let status = daemon.status()
        let known = failed
        // Counting rows takes time, so make the line on the ledger's lane.
        FileLanes.ledger.async { [self] in
            let midnight = Timestamp.midnight()
            var failed = known
            let all = status.jobs[.failed] ?? 0
            if failed.all != all || failed.since != midnight {
                // If the ledger can't be read, keep the previous count.
                let count = try? daemon.failedCount(since: midnight)
                if let count { failed = (all, midnight, count) }
            }
            let line = StatusLine.text(service.shown(daemon.withReasons(status)), failedToday: failed.count)
            Coordination.async { [failed] in self.notify(line, failed) }
        }
    }

    private func notify(_ line: String, _ failed: (all: Int, since: Double, count: Int)) {
        self.failed = failed
        guard line != reported else { return }
        reported = line
        ServiceManager.notify("STATUS=\(line)")
    }
}
