import PipelineControl

/// The jobs in work, a line each, one below the other: `  #15 download  alps.jpg  ███░░░  38 %  1.2 MB/s  12 s`.
struct JobColumns {
    private let id: Int
    private let operation: Int
    private let name: Int
    /// 0 where it is too narrow.
    private let bar: Int
    private let showsRate: Bool

    private static let (percent, rate, remaining) = (5, 9, 12)

    init(_ jobs: [Control.JobProgress], width: Int) {
        id = jobs.map { "\($0.job.id)".columns + 1 }.max() ?? 0
        operation = jobs.map { ($0.operation ?? $0.job.state).columns }.max() ?? 0
        bar = width >= 60 ? 10 : 0
        showsRate = width >= 40
        let figures = Self.percent + (bar > 0 ? bar + 1 : 0) + (showsRate ? Self.rate + 2 : 0) + Self.remaining
        let longest = jobs.map { $0.job.input.columns }.max() ?? 0
        name = max(1, min(longest, width - 2 - id - 1 - operation - 2 - 2 - figures))
    }

    func line(_ entry: Control.JobProgress) -> Text {
        let job = entry.job
        let head: Text =
            "  \("#\(job.id)".padded(to: id)) \((entry.operation ?? job.state).padded(to: operation), .faint)  "
        let title = head + Text(job.input.printable.shortened(to: name).padded(to: name)) + "  "
        if job.state == "waiting", let reason = job.reason { return title + Text(reason, .held) }
        if job.state == "cancelling" { return title + Text("cancelling", .held) }
        guard let progress = entry.progress else { return title }
        return title + share(progress) + figures(progress)
    }

    /// The bar and the percent; how much has come where nobody knows of how much.
    private func share(_ progress: Control.Progress) -> Text {
        let space = bar > 0 ? bar + 1 : 0
        guard let fraction = progress.fraction, let percent = progress.percent else {
            let amount = progress.done > 0 ? progress.amount : ""
            return Text(amount.padded(to: space + Self.percent, right: true))
        }
        return (bar > 0 ? Bar(fraction, bar).text + " " : Text()) + Text(percent.padded(to: Self.percent, right: true))
    }

    private func figures(_ progress: Control.Progress) -> Text {
        var text = ""
        if showsRate { text += "  " + (progress.rateText ?? "").padded(to: Self.rate, right: true) }
        text += (progress.remaining.map { Moment.duration($0) } ?? "").padded(to: Self.remaining, right: true)
        while text.last == " " { text.removeLast() }
        return Text(text)
    }
}
