import DaemonConfiguration
import DaemonRuntime
import Dispatch
import JobModel
import OperationGraph
import PipelineModel
import ServiceProgram
import SystemCalls

/// Finds jobs whose file system does not answer. The daemon can't stop a system call that hangs. So the operation that
/// has made the call gives up its slot in the queue, and no further work for the same inbox or outbox begins.
extension JobRunner {
    func lookForHangs() {
        let latest = DispatchTime.now() - configuration.settings.hangTimeout.dispatch
        for job in jobs.all {
            for operation in job.operations {
                guard let touch = operation.fileWork.current, touch.since < latest else { continue }
                operation.setAside()
                let order = job.record.order
                let place = FileSystem.lies(touch.path, within: order.inbox) ? order.inbox : order.outbox
                if let reason = shortages.begin(noAnswerFrom: place, for: job.record.id) {
                    showWait(job.record.id, reason)
                }
            }
        }
    }
}
