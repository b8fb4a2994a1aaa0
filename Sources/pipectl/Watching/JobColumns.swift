import PipelineControl
import SystemCalls

/// Jobs in progress, one per line: `  #15 download  alps.jpg  ███░░░  38 %  1.2 MB/s  12 s`.
struct JobColumns {
    private let id: Int
    private let operation: Int
    private let name: Int
    /// The bar's width; 0 if there is no room.
    private let bar: Int
    private let rate: Int
    private let remaining: Int

    private static let percent = 5
    private static let leastName = 12

    init(_ jobs: [Control.JobProgress], width: Int) {
        id = jobs.map { "\($0.job.id)".columns + 1 }.max() ?? 0
        operation = jobs.map { ($0.operation ?? $0.job.state).columns }.max() ?? 0
        let longest = jobs.map { $0.job.name.columns }.max() ?? 0
        let room = width - 2 - id - 1 - operation - 2 - 2 - Self.percent
        // On a narrow terminal, drops the bar first, then the rate, then the remaining time, to leave room for the
        // names.
        let choices = [(11, 11, 12), (0, 11, 12), (0, 0, 12), (0, 0, 0)]
        let fitting = choices.first { min(longest, Self.leastName) <= room - $0.0 - $0.1 - $0.2 }
        (bar, rate, remaining) = fitting ?? (0, 0, 0)
        name = max(1, min(longest, room - bar - rate - remaining))
    }

    func line(_ entry: Control.JobProgress) -> Text {
        let job = entry.job
        let head: Text =
            "  \("#\(job.id)".padded(to: id)) \((entry.operation ?? job.state).padded(to: operation), .faint)  "
        let title = job.name.printable.shortened(to: name)
        guard let rest = rest(of: entry) else { return head + Text(title) }
        return head + Text(title.padded(to: name)) + "  " + rest
    }

    private func rest(of entry: Control.JobProgress) -> Text? {
        let job = entry.job
        if job.state == "waiting", let reason = job.reason { return Text(reason, .halted) }
        if job.state == "cancelling" { return Text("cancelling", .halted) }
        return entry.progress.map { share($0) + figures($0) }
    }

    /// The bar and the percentage, or the amount done if the total is unknown.
    private func share(_ progress: Control.Progress) -> Text {
        guard let fraction = progress.fraction, let percent = progress.percent else {
            let amount = progress.done > 0 ? progress.amount : ""
            return Text(amount.padded(to: bar + Self.percent, right: true))
        }
        return (bar > 0 ? Bar(fraction, bar - 1).text + " " : Text())
            + Text(percent.padded(to: Self.percent, right: true))
    }

    private func figures(_ progress: Control.Progress) -> Text {
        var text = ""
        if rate > 0 { text += (progress.rateText ?? "").padded(to: rate, right: true) }
        if remaining > 0 {
            text += (progress.left ?? "").padded(to: remaining, right: true)
        }
        while text.last == " " { text.removeLast() }
        return Text(text)
    }
}
