import SystemCalls
import WorkerProtocol

/// Why a job failed: what happened, and what the person who dropped the picture can do about it.
struct JobFailure: Error, Sendable, CustomStringConvertible {
    var message: String
    var advice: String?
    /// The stage of the chain, or of the job's way, that it happened in.
    var stage: String?

    var description: String { message }

    init(_ message: String, advice: String? = nil) {
        self.message = message
        self.advice = advice
    }

    init(_ failure: WorkerFailure) {
        message = failure.stage == "open" ? failure.message : "\(failure.stage): \(failure.message)"
        advice = failure.advice
        stage = failure.stage
    }

    init(_ error: any Error, during work: String) {
        message = "\(work): \(error)"
        advice = (error as? SystemError).flatMap(Self.advice)
    }

    private static func advice(_ error: SystemError) -> String? {
        switch error.code {
        case 28, 122: "make room there, then `pipectl retry`"
        case 13, 1: "give the daemon's user access, then `pipectl retry`"
        case 20: "a file has the name that a folder needs; move it away, then `pipectl retry`"
        case 2: "the file was moved or removed while it waited"
        default: nil
        }
    }
}
