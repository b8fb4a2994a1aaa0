import PipelineModel
package import WorkerProtocol

/// Converts failures of workers into failures of their jobs.
extension JobFailure {
    /// Returns nil if the task was cancelled or not lent. `number` is the number of the operation's attempt, counted
    /// from 1. A crash in attempt 1 allows a retry.
    package init?(_ failure: RenderTask.Failure, atTry number: Int) {
        switch failure {
        case .picture(let failure):
            self.init(failure)
        case .timedOut(let suspicion):
            self.init(
                suspicion.isCertain
                    ? "\(suspicion.words) took longer than JobTimeout" : "rendering took longer than JobTimeout",
                advice: "raise JobTimeout in [Daemon], then `pipectl retry`" + suspicion.orMend, class: .timeout)
            stage = suspicion.stage
            culprit = suspicion.culprit
        case .tooHeavy(let words):
            self.init(words, advice: "raise MemoryBudget in [Daemon], or make the picture smaller")
        case .confined(let suspicion):
            // Unlike a crash, this failure is not retried: the picture may have taken over the worker, and a retry
            // would expose another worker to the picture.
            self.init(
                "confinement: \(suspicion.isCertain ? suspicion.words : "the picture, or a filter of its chain,") "
                    + "tried something that a worker may not do, and the kernel ended the worker",
                advice: "distrust the picture, unless a filter is at fault; the kernel's log (`journalctl -k`) "
                    + "names the system call")
        case .workerLost(let end, let suspicion) where number < 2:
            self.init(
                "its worker \(end)\(suspicion.isCertain ? ", in \(suspicion.words)" : "")\(suspicion.andMemory)",
                class: .crash)
            stage = suspicion.stage
        case .workerLost(let end, _) where end.isFromOutside:
            self.init(
                "its worker was lost twice; the second \(end)",
                advice: "look at what ends processes on this machine (`journalctl -k`), then `pipectl retry`",
                class: .transient)
        case .workerLost(let end, let suspicion):
            self.init(
                "\(suspicion.isCertain ? "\(suspicion.words) " : "")took its worker down twice; the second "
                    + "\(end)\(suspicion.andMemory)",
                advice: suspicion.isCertain
                    ? "leave it out of the chain, or mend it"
                    : "the picture, or a filter of the chain, is likely to be broken" + suspicion.orMend,
                class: .crash)
            stage = suspicion.stage
            culprit = suspicion.culprit
        case .cancelled, .notLent:
            return nil
        }
    }

    /// Returns nil if the transfer was cancelled.
    package init?(_ failure: FetchTask.Failure) {
        switch failure {
        case .transfer(let failure):
            self.init(failure)
        case .workerLost(let how) where how.isFromOutside:
            self.init(
                "the fetch worker was lost twice; the second \(how)",
                advice: "look at what ends processes on this machine (`journalctl -k`), then `pipectl retry`",
                class: .transient)
        case .workerLost(let how):
            self.init(
                "took the fetch worker down twice; the second \(how)",
                advice: "distrust the server, or report this", class: .crash)
        case .confined:
            self.init(
                "confinement: the download tried something that the fetch worker may not do, and the kernel ended the worker",
                advice: "distrust the server; the kernel's log (`journalctl -k`) names the system call")
        case .silent(let time):
            self.init(
                "the fetch worker reported nothing about it for \(time.text), twice", advice: "report this",
                class: .transient)
        case .cancelled:
            return nil
        }
    }

    package init(_ failure: FetchFailure) {
        let kind: FailureClass =
            switch failure.kind {
            case .input: .input
            case .transient, .changed: .transient
            case .room: .room
            }
        self.init(failure.message, advice: failure.advice, class: kind)
        retryAfter = failure.retryAfter.map { .seconds(min(max(0, $0), 30 * 86400)) }
    }
}

extension Suspicion {
    /// Names of the filters that were running, if known for certain.
    fileprivate var stage: String? { isCertain ? filters.map(\.name).joined(separator: " + ") : nil }

    fileprivate var culprit: String? { isCertain && filters.count == 1 ? filters.first?.name : nil }

    fileprivate var orMend: String {
        if isCertain { return "; or leave it out of the chain" }
        return filters.isEmpty ? "" : "; or look at \(words)"
    }

    fileprivate var andMemory: String { isOutOfMemory ? ", after it had used all the memory that it may use" : "" }
}
