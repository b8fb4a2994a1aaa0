package import DaemonRuntime
import Dispatch
package import PipelineModel
package import SystemCalls
package import WorkerProtocol

/// A download for the fetch worker to run. Its handlers are called on the coordination queue.
@Coordination
package final class FetchTask {
    package enum Failure: Error, Sendable {
        /// The worker reports that the transfer failed.
        case transfer(FetchFailure)
        /// The worker died during both attempts; `WorkerEnd` describes the second death.
        case workerLost(WorkerEnd)
        /// The kernel ended the worker for a forbidden system call.
        case confined
        /// The worker did not report on the transfer for this long, in both attempts.
        case silent(Duration)
        case cancelled
    }

    let url: String
    /// Describes the part of the file that was received so far, possibly by an earlier worker. Nil if a retry must
    /// start from the beginning.
    var resume: FetchResume?
    let limits: FetchLimits
    let login: FetchLogin?
    let target: Descriptor
    let progress: @Sendable (_ received: Int64, _ total: Int64?, _ kept: FetchResume?) -> Void
    let done: @Sendable (Result<FetchedFile, Failure>) -> Void

    var cancelled = false
    /// Number of workers that died during the transfer or were killed because of it.
    var losses = 0
    /// Time of the worker's last report on this transfer.
    var heard = DispatchTime.now()
    /// Whether the latest worker was killed because it did not report on this transfer.
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
