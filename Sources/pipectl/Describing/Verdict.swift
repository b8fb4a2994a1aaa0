import PipelineControl
import SystemCalls

/// The daemon's health in one line, for a monitor: its exit codes are those that Nagios and its successors expect.
struct Verdict: Encodable {
    enum State: String, Encodable {
        case ok
        /// Something fails, or waits for a person.
        case attention
        /// No daemon answers.
        case away
        /// The check could not be made.
        case unknown
    }

    /// The most that is no reason for attention; nil for any number.
    struct Limits {
        var failed = 0
        var unfinished: Int?
        var ignored: Int?
        /// In percent of what may be filled.
        var disk: Int?
    }

    let state: State
    /// All that is wrong, the gravest first.
    let reasons: [String]
    @Omissible var failed: Int?
    @Omissible var unfinished: Int?
    @Omissible var ignored: Int?
    /// How full the fullest disk is, in percent.
    @Omissible var disk: Int?

    /// `failed` counts the jobs whose failure is recent enough; `period` says how recent that is.
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
        if let most = limits.unfinished, unfinished > most { reasons.append("\(unfinished) jobs are not over") }
        if let most = limits.ignored, jobs.ignored > most {
            reasons.append("\(Amount.counted(jobs.ignored, "file")) left alone")
        }
        if let most = limits.disk {
            for disk in status.disks where disk.share > most {
                reasons.append("the disk of \(disk.path) is \(disk.share) % full")
            }
        }
        if status.stopping { reasons.append("it stops, and takes nothing new") }
        state = reasons.isEmpty ? .ok : .attention
        self.reasons = reasons
        (self.failed, self.unfinished, ignored) = (failed, unfinished, jobs.ignored)
        disk = status.disks.map(\.share).max()
    }

    /// Without the daemon's figures.
    init(_ state: State, _ failure: Failure) {
        self.state = state
        reasons = [failure.message.split(separator: "\n").first.map(String.init) ?? failure.name]
    }

    /// A monitor shows the words before the bar, and draws the figures behind it.
    var line: String {
        let word = [State.ok: "OK", .attention: "WARNING", .away: "CRITICAL", .unknown: "UNKNOWN"][state] ?? ""
        let words = reasons.isEmpty ? "nothing fails, nothing waits for a person" : reasons.joined(separator: "; ")
        let figures = [("failed", failed), ("unfinished", unfinished), ("ignored", ignored), ("disk", disk)].compactMap
        { name, count in
            count.map { "\(name)=\($0)" }
        }
        // A line has one bar, whatever a file is called.
        let text = "pipelined \(word): \(words.printable.replacing("|", with: "/"))"
        return figures.isEmpty ? text : "\(text) | \(figures.joined(separator: " "))"
    }

    /// 2 is the monitors' number for the gravest state, and 3 for a check that can't be made.
    var exitCode: ExitCode {
        switch state {
        case .ok: .done
        case .attention: .failed
        case .away: .usage
        case .unknown: .unreachable
        }
    }
}
