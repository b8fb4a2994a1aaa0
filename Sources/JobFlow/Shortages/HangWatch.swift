import DaemonConfiguration
import DaemonRuntime
import Dispatch
import JobModel
import OperationGraph
import PictureFiles
import PipelineModel
import SystemCalls

/// Checks at intervals, while jobs are in progress, whether their file systems answer. A system call that hangs can't
/// be stopped. So the operation that has made it gives up its slot in the queue, and no further work for the same
/// folder begins.
@Coordination
final class HangWatch {
    private let configuration: ConfigurationInForce
    private let jobs: JobQueue
    private let shortages: Shortages
    private let originals: OriginalMover
    private var isWatching = false

    init(_ configuration: ConfigurationInForce, _ jobs: JobQueue, _ shortages: Shortages, _ originals: OriginalMover) {
        (self.configuration, self.jobs) = (configuration, jobs)
        (self.shortages, self.originals) = (shortages, originals)
    }

    /// Watches while jobs are in progress or originals are being moved. Calls `showWait` for each job that waits for a
    /// file system.
    func watch(showWait: @escaping @Coordination @Sendable (Job, String) -> Void) {
        guard !isWatching else { return }
        isWatching = true
        Coordination.after(configuration.settings.hangTimeout) { [self] in
            isWatching = false
            look(showWait)
            if originals.isMoving || jobs.all.contains(where: { $0.record.state != .queued }) {
                watch(showWait: showWait)
            }
        }
    }

    private func look(_ showWait: (Job, String) -> Void) {
        let latest = DispatchTime.now() - configuration.settings.hangTimeout.dispatch
        for job in jobs.all {
            for operation in job.operations {
                guard let touch = operation.fileWork.current, touch.since < latest else { continue }
                operation.setAside()
                let order = job.record.order
                let place = FileSystem.lies(touch.path, within: order.inbox) ? order.inbox : order.outbox
                if let reason = shortages.begin(noAnswerFrom: place, for: job.record.id) { showWait(job, reason) }
            }
        }
        originals.lookForHangs(since: latest)
    }
}
