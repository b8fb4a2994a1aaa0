package import DaemonRuntime
import Dispatch
package import PipelineModel
package import SystemCalls
package import WorkerProtocol

/// One transfer for the fetch worker, and where its answers go. Answers come on the coordination queue.
@Coordination
package final class FetchTask {
    package enum Failure: Error, Sendable {
        /// The worker's own word on the transfer.
        case transfer(FetchFailure)
        /// Its worker ended twice in the middle, the second time so.
        case workerLost(WorkerEnd)
        /// The worker was ended by the kernel: it tried what it may not.
        case confined
        /// Its worker was silent about it for so long, twice.
        case silent(Duration)
        case cancelled
    }

    let url: String
    let resume: FetchResume?
    let limits: FetchLimits
    let target: Descriptor
    let progress: @Sendable (_ received: Int64, _ total: Int64?) -> Void
    let done: @Sendable (Result<FetchedFile, Failure>) -> Void

    var cancelled = false
    /// How often its worker ended in the middle, or was ended because of it.
    var losses = 0
    /// When its worker last reported on it.
    var heard = DispatchTime.now()
    /// Its latest worker was ended because of it.
    var isSilent = false

    package nonisolated init(
        url: String, resume: FetchResume?, limits: FetchLimits, target: Descriptor,
        progress: @escaping @Sendable (_ received: Int64, _ total: Int64?) -> Void,
        done: @escaping @Sendable (Result<FetchedFile, Failure>) -> Void
    ) {
        self.url = url
        self.resume = resume
        self.limits = limits
        self.target = target
        self.progress = progress
        self.done = done
    }
}
