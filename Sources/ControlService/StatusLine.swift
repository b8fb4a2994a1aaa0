import PipelineControl
import SystemCalls

/// The daemon's state in one line: the numbers of jobs, then problems, then the reasons why jobs wait.
enum StatusLine {
    private static let mostReasons = 3
    private static let longestReason = 160

    static func text(_ status: Control.Overview, failedToday: Int) -> String {
        var counts: [String] = []
        if status.jobs.running > 0 { counts.append("\(status.jobs.running) running") }
        if status.jobs.cancelling > 0 { counts.append("\(status.jobs.cancelling) cancelling") }
        if status.jobs.queued > 0 { counts.append("\(status.jobs.queued) queued") }
        if status.jobs.waiting > 0 { counts.append("\(status.jobs.waiting) waiting") }
        if counts.isEmpty { counts.append("nothing to do") }
        if failedToday > 0 { counts.append("\(failedToday) failed today") }
        let doing = (status.stopping ? "stopping: " : "") + counts.joined(separator: ", ")
        let inboxes = status.inboxProblems.map { "inbox \($0)" }
        let waiting = status.waiting.map { "\($0.jobs) \($0.jobs == 1 ? "waits" : "wait"): \($0.reason)" }
        return ([doing] + listed(status.problems + inboxes) + listed(waiting)).joined(separator: "; ").printable
    }

    /// The first few reasons, and the number of reasons left out.
    private static func listed(_ reasons: [String]) -> [String] {
        let shown = reasons.prefix(mostReasons).map { reason in
            reason.count > longestReason ? "\(reason.prefix(longestReason))…" : reason
        }
        let more = reasons.count - shown.count
        return shown + (more > 0 ? ["\(more) more, in `pipectl status`"] : [])
    }
}
