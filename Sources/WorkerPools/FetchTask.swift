package import DaemonRuntime
import Dispatch
package import PipelineModel
package import SystemCalls
package import WorkerProtocol

/// A transfer for the fetch worker, with handlers for its answers, which are called on the coordination queue.
@Coordination
package final class FetchTask {
    package enum Failure: Error, Sendable {
        /// The worker reports that the transfer failed.
        case transfer(FetchFailure)
        /// The worker died twice during the transfer; `WorkerEnd` describes the second time.
        case workerLost(WorkerEnd)
        /// The kernel ended the worker for a forbidden system call.
        case confined
        /// The worker was silent about the transfer for this long, twice.
        case silent(Duration)
        case cancelled
    }

    let url: String
    /// The part received so far, possibly by an earlier worker.
    var resume: FetchResume?
    let limits: FetchLimits
    let login: FetchLogin?
    let target: Descriptor
    let progress: @Sendable (_ received: Int64, _ total: Int64?, _ kept: FetchResume?) -> Void
    let done: @Sendable (Result<FetchedFile, Failure>) -> Void

    var cancelled = false
    /// Number of workers that died during the transfer or were killed because of it.
    var losses = 0
    /// Time of the last report about it.
    var heard = DispatchTime.now()
    /// Its latest worker was killed because of its silence about it.
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
