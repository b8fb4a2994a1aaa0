import Glibc
import PipelineModel
import SystemCalls
import WorkerProtocol

/// Why a job failed: what happened, and what the person who dropped the picture can do about it.
struct JobFailure: Error, Sendable, CustomStringConvertible {
    var message: String
    var advice: String?
    /// The stage of the chain, or of the job's way, that it happened in.
    var stage: String?
    var `class` = FailureClass.input
    /// The filter that is missing, if that is it.
    var filter: String?
    /// The filter in which its worker crashed, or hung, if it is known to be that.
    var culprit: String?
    /// How long a server has asked to be left alone.
    var retryAfter: Duration?
    /// The bytes that were written by then.
    var written: Int64 = 0

    var description: String { message }

    init(_ message: String, advice: String? = nil, class: FailureClass = .input) {
        (self.message, self.advice) = (message, advice)
        self.class = `class`
    }

    init(_ failure: WorkerFailure) {
        message = failure.stage == "open" ? failure.message : "\(failure.stage): \(failure.message)"
        advice = failure.advice
        stage = failure.stage
        self.class = failure.class
        if failure.class == .configuration { filter = failure.stage }
    }

    static let unrecordedIntent = JobFailure(
        "the ledger refuses to record what is to be published", advice: "see the daemon's log")

    /// A client sees the message alone.
    static let unrecordedRemoval = JobFailure("the ledger refuses to record the removal; see the daemon's log")

    /// A failure of work on the original.
    init(_ error: any Error, during work: String) {
        self.init(error, during: work, ofOriginal: true)
    }

    /// A failure of work in the outbox.
    init(_ error: any Error, inOutboxDuring work: String) {
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
        case ENOTDIR: "a file has the name that a folder needs; move it away, then `pipectl retry`"
        case EMFILE, ENFILE, ENOMEM: "the machine was short of something for a moment; `pipectl retry`"
        case _ where error.isPassing: "look at the disk (`dmesg`), or at its network, then `pipectl retry`"
        default: nil
        }
    }
}
