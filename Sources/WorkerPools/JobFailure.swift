import Glibc
package import PipelineModel
import SystemCalls
package import WorkerProtocol

/// Why a job failed: what happened, and what the user can do about it.
package struct JobFailure: Error, Sendable, CustomStringConvertible {
    package var message: String
    package var advice: String?
    /// The stage of the chain, or the step of the job, in which the failure happened.
    package var stage: String?
    package var `class` = FailureClass.input
    /// The name of the missing filter, if the job failed because a filter is missing.
    package var filter: String?
    /// The name of the filter that crashed or hung, if known for certain.
    package var culprit: String?
    /// The delay that the server requested before a retry.
    package var retryAfter: Duration?
    /// Number of bytes written before the failure.
    package var written: Int64 = 0

    package var description: String { message }

    package init(_ message: String, advice: String? = nil, class: FailureClass = .input) {
        (self.message, self.advice) = (message, advice)
        self.class = `class`
    }

    package init(_ failure: WorkerFailure) {
        message = failure.stage == "open" ? failure.message : "\(failure.stage): \(failure.message)"
        advice = failure.advice
        stage = failure.stage
        self.class = failure.class
        if failure.class == .configuration { filter = failure.stage }
    }

    package static let unrecordedIntent = JobFailure(
        "the ledger could not record the results before their publication", advice: "see the daemon's log")

    /// Clients see only the message, so it includes the advice.
    package static let unrecordedRemoval = JobFailure("the ledger could not record the removal; see the daemon's log")

    /// A failure while handling the original.
    package init(_ error: any Error, during work: String) {
        self.init(error, during: work, ofOriginal: true)
    }

    /// A failure while handling the outbox.
    package init(_ error: any Error, inOutboxDuring work: String) {
        self.init(error, during: work, ofOriginal: false)
    }

    private init(_ error: any Error, during work: String, ofOriginal: Bool) {
        message = "\(work): \(error)"
        guard let error = error as? SystemError else { return }
        advice = Self.advice(error)
        self.class = FailureClass(code: error.code, ofOriginal: ofOriginal)
    }

    private static func advice(_ error: SystemError) -> String? {
        switch error.code {
        case ENOSPC, EDQUOT: "make room there, then `pipectl retry`"
        case EACCES, EPERM: "give the daemon's user access, then `pipectl retry`"
        case ENOENT: "the file was moved or removed while it waited"
        case ENOTDIR: "a file has the name of a needed folder; move it away, then `pipectl retry`"
        case EMFILE, ENFILE, ENOMEM: "the machine was short of a resource for a moment; `pipectl retry`"
        case _ where error.isPassing: "look at the disk (`dmesg`), or at its network, then `pipectl retry`"
        default: nil
        }
    }
}
