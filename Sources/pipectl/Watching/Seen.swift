import PipelineControl

/// Counts the jobs that have ended since the watch began, and determines whether any jobs are left. Callers pass the
/// present time.
struct Seen {
    private(set) var status: Control.Overview
    /// The jobs that ended, by ID. A job that is retried or redone counts as open again.
    private var ended: [Int: Ending] = [:]
    private(set) var failed = 0
    private(set) var cancelled = 0
    private(set) var cursor: Int
    private let began: Double

    private enum Ending {
        case done, failed, cancelled
    }

    init(status: Control.Overview, since cursor: Int, now: Double) {
        (self.status, self.cursor) = (status, cursor)
        began = now
    }

    mutating func take(_ event: Control.Event, counting: Bool = true) {
        cursor = max(cursor, event.cursor)
        guard counting, event.kind == "job", let job = event.job else { return }
        let ending: Ending? =
            switch job.state {
            case "done": .done
            case "failed": .failed
            case "cancelled": .cancelled
            default: nil
            }
        count(ended[job.id], by: -1)
        count(ending, by: 1)
        ended[job.id] = ending
    }

    private mutating func count(_ ending: Ending?, by step: Int) {
        if ending == .failed { failed += step }
        if ending == .cancelled { cancelled += step }
    }

    mutating func take(_ status: Control.Overview) {
        self.status = status
    }

    private var open: Int {
        [status.jobs.waiting, status.jobs.queued, status.jobs.running, status.jobs.cancelling].sum
    }

    /// Whether no job waits, runs or is just arriving.
    var isIdle: Bool { open == 0 && status.inboxes.allSatisfy { $0.settling == 0 } }
    var isCaughtUp: Bool { cursor >= status.cursor }

    /// `19 done · 1 failed in 14 s`
    func summary(now: Double) -> Text {
        var text: Text = "\("\(ended.count - failed - cancelled) done", .good)"
        if failed > 0 { text = text + " · \("\(failed) failed", .bad)" }
        if cancelled > 0 { text = text + " · \("\(cancelled) cancelled", .halted)" }
        return text + " in \(Amount.milliseconds((now - began) * 1000))"
    }
}
