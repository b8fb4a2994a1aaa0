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
        /// In both attempts, the worker sent no report on the transfer for this long.
        case silent(Duration)
        case cancelled
    }

    /// The download and its settings.
    package struct Wish: Sendable {
        var url: String
        var limits: FetchLimits
        var login: FetchLogin?

        package init(url: String, limits: FetchLimits, login: FetchLogin? = nil) {
            (self.url, self.limits, self.login) = (url, limits, login)
        }
    }

    let wish: Wish
    /// The part of the file received so far, possibly by an earlier worker. Nil if a retry must start from the
    /// beginning.
    var resume: FetchResume?
    let target: Descriptor
    let progress: @Sendable (_ received: Int64, _ total: Int64?, _ kept: FetchResume?) -> Void
    let done: @Sendable (Result<FetchedFile, Failure>) -> Void

    var cancelled = false
    /// Number of workers that died during the transfer, or that the pool killed because of the transfer.
    var losses = 0
    /// Time of the worker's last report on this transfer.
    var heard = DispatchTime.now()
    /// Whether the pool killed the latest worker because it did not report on this transfer.
    var isSilent = false

    package nonisolated init(
        _ wish: Wish, resume: FetchResume?, into target: Descriptor,
        progress: @escaping @Sendable (_ received: Int64, _ total: Int64?, _ kept: FetchResume?) -> Void,
        done: @escaping @Sendable (Result<FetchedFile, Failure>) -> Void
    ) {
        (self.wish, self.resume, self.target) = (wish, resume, target)
        (self.progress, self.done) = (progress, done)
    }
}
