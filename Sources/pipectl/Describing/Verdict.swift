import PipelineControl
import SystemCalls

/// The daemon's health in one line, for a monitor, with the exit codes of Nagios and its successors.
struct Verdict: Encodable {
    enum State: String, Encodable {
        case ok
        /// Something has failed, or needs a person.
        case attention
        /// No daemon answers.
        case away
        /// The check could not be made.
        case unknown
    }

    /// The highest values that need no attention; nil means no limit.
    struct Limits {
        var failed = 0
        var unfinished: Int?
        var ignored: Int?
        /// Maximum used space of the fullest disk, in percent of the usable space.
        var disk: Int?
    }

    let state: State
    /// Everything that is wrong, the most serious first.
    let reasons: [String]
    @Omissible var failed: Int?
    @Omissible var unfinished: Int?
    @Omissible var ignored: Int?
    /// Used space of the fullest disk, in percent.
    @Omissible var disk: Int?

    /// `failed` is the number of jobs that have failed since `period`, such as `1d` or `09:30`. If `period` is nil,
    /// `failed` is the number of all failed jobs.
    init(_ status: Control.Overview, failed: Int, period: String?, _ limits: Limits) {
        let jobs = status.jobs
        let unfinished = [jobs.waiting, jobs.queued, jobs.running, jobs.cancelling].sum
        var reasons = status.problems + status.inboxProblems
        reasons += status.queues.sorted { $0.key < $1.key }.compactMap { name, queue in
            guard queue.paused else { return nil }
            return "queue \(name) is paused" + (queue.reason.map { " (\($0))" } ?? "")
        }
        if failed > limits.failed {
            reasons.append("\(Amount.counted(failed, "job")) failed" + (period.map { " since \($0)" } ?? ""))
        }
        if let most = limits.unfinished, unfinished > most {
            reasons.append("\(Amount.counted(unfinished, "job")) \(unfinished == 1 ? "is" : "are") unfinished")
        }
        if let most = limits.ignored, jobs.ignored > most {
            reasons.append("\(Amount.counted(jobs.ignored, "file")) left alone")
        }
        if let most = limits.disk {
            for disk in status.disks where disk.share > most {
                reasons.append("the disk of \(disk.path) is \(disk.share) % full")
            }
        }
        if status.stopping { reasons.append("it is stopping, and takes nothing new") }
        state = reasons.isEmpty ? .ok : .attention
        self.reasons = reasons
        (self.failed, self.unfinished, ignored) = (failed, unfinished, jobs.ignored)
        disk = status.disks.map(\.share).max()
    }

    /// A verdict without figures, because the daemon gave none.
    init(_ state: State, _ failure: Failure) {
        self.state = state
        reasons = [failure.message.split(separator: "\n").first.map(String.init) ?? failure.name]
    }

    /// The output for a monitor, which shows the text before the `|`, and plots the figures after it.
    var line: String {
        let word = [State.ok: "OK", .attention: "WARNING", .away: "CRITICAL", .unknown: "UNKNOWN"][state] ?? ""
        let words = reasons.isEmpty ? "no failures, and nothing needs attention" : reasons.joined(separator: "; ")
        let figures = [("failed", failed), ("unfinished", unfinished), ("ignored", ignored), ("disk", disk)].compactMap
        { name, count in
            count.map { "\(name)=\($0)" }
        }
        // The line must contain a single `|`, so this replaces any `|` in the text, for example in file names.
        let text = "pipelined \(word): \(words.printable.replacing("|", with: "/"))"
        return figures.isEmpty ? text : "\(text) | \(figures.joined(separator: " "))"
    }

    /// The code that a monitor expects: it reads 2 as critical and 3 as unknown. For other commands of pipectl, these
    /// codes have other meanings.
    var exitCode: ExitCode {
        switch state {
        case .ok: .done
        case .attention: .failed
        case .away: .usage
        case .unknown: .unreachable
        }
    }
}
