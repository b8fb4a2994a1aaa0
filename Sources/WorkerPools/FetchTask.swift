package import DaemonRuntime
import Dispatch
package import PipelineModel
package import SystemCalls
package import WorkerProtocol

/// A transfer for the fetch worker, with the handlers of its answers. They are called on the coordination queue.
@Coordination
package final class FetchTask {
    package enum Failure: Error, Sendable {
        /// The worker reports that the transfer has failed.
        case transfer(FetchFailure)
        /// Its worker ended twice in the middle, the second time in this way.
        case workerLost(WorkerEnd)
        /// The kernel ended the worker, which tried a call that is refused.
        case confined
        /// Its worker was silent about it for so long, twice.
        case silent(Duration)
        case cancelled
    }

    let url: String
    /// The beginning that has come, also by a worker that was lost.
    var resume: FetchResume?
    let limits: FetchLimits
    let login: FetchLogin?
    let target: Descriptor
    let progress: @Sendable (_ received: Int64, _ total: Int64?, _ kept: FetchResume?) -> Void
    let done: @Sendable (Result<FetchedFile, Failure>) -> Void

    var cancelled = false
    /// The number of workers that ended in the middle, or were ended because of it.
    var losses = 0
    /// The time of its worker's last report on it.
    var heard = DispatchTime.now()
    /// Its latest worker was ended because of it.
    var isSilent = false

    package nonisolated init(
        url: String, resume: FetchResume?, limits: FetchLimits, login: FetchLogin? = nil, target: Descriptor,
        progress: @escaping @Sendable (_ received: Int64, _ total: Int64?, _ kept: FetchResume?) -> Void,
        done: @escaping @Sendable (Result<FetchedFile, Failure>) -> Void
    ) {
        self.url = url
        self.resume = resume
        self.limits = limits
        self.login = login
        self.target = target
        self.progress = progress
        self.done = done
    }
}
