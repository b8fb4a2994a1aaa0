import WorkerProtocol

/// What workers' failures are to their jobs.
extension JobFailure {
    /// Nil when it was cancelled. `number` counts the operation's workers.
    init?(_ failure: RenderTask.Failure, atTry number: Int) {
        switch failure {
        case .picture(let failure):
            self.init(failure)
        case .timedOut:
            self.init(
                "rendering took longer than JobTimeout", advice: "raise JobTimeout in [Daemon], then `pipectl retry`",
                class: .timeout)
        case .tooHeavy(let words):
            self.init(words, advice: "raise MemoryBudget in [Daemon], or make the picture smaller")
        case .confined:
            // Not tried again, as after a crash: whoever took the worker over would get another.
            self.init(
                "confinement: the picture, or a filter of its chain, tried what a worker may not, and the kernel "
                    + "ended the worker",
                advice: "distrust the picture, unless a filter is at fault; the kernel's log (`journalctl -k`) "
                    + "names the system call")
        case .workerLost(let end) where number < 2:
            self.init("its worker \(end)", class: .crash)
        case .workerLost(let end) where end.isFromOutside:
            self.init(
                "its worker was lost twice; the second \(end)",
                advice: "look at what ends processes on this machine (`journalctl -k`), then `pipectl retry`",
                class: .transient)
        case .workerLost(let end):
            self.init(
                "took its worker down twice; the second \(end)",
                advice: "the picture, or a filter of the chain, is likely to be broken", class: .crash)
        case .cancelled:
            return nil
        }
    }
}
