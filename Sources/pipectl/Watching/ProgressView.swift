import PipelineControl

/// A bar of the whole over the jobs that ended last, redrawn in place. The cursor rests below, so that whatever ends the program
/// leaves a whole picture.
struct ProgressView: EventView {
    private static let hideCursor = "\u{1b}[?25l"
    private static let showCursor = "\u{1b}[?25h"
    private static let clearBelow = "\u{1b}[J"

    let output: Output
    private var drawn = 0

    init(output: Output) {
        self.output = output
    }

    func show(_ events: [Control.Event]) {}

    mutating func draw(_ progress: Progress, now: Double) throws {
        let width = (output.columns ?? 80) - 1
        let lines = ([bar(progress, width: width, now: now)] + notes(progress) + jobs(progress))
            .map { $0.shortened(to: width) }
        try output.raw(Self.hideCursor + rewind)
        try output.lines(lines)
        try output.flush()
        drawn = lines.count
    }

    /// The picture makes place for what stays on the screen: the last jobs, and a summary.
    mutating func finish(_ progress: Progress, now: Double) throws {
        let width = (output.columns ?? 80) - 1
        try output.raw(rewind)
        drawn = 0
        try output.lines((jobs(progress) + [summary(progress, now: now)]).map { $0.shortened(to: width) })
        try output.raw(Self.showCursor)
        try output.flush()
    }

    private var rewind: String { (drawn > 0 ? "\u{1b}[\(drawn)A" : "") + "\r" + Self.clearBelow }

    private func bar(_ progress: Progress, width: Int, now: Double) -> Text {
        guard progress.known > 0 else { return Text("nothing to do; waiting for pictures", .faint) }
        var figures = "\(progress.done) of \(progress.known)"
        if let rate = progress.rate(now: now) { figures += " · \(Amount.tenths(rate))/s" }
        if progress.open > 0, let remaining = progress.remaining(now: now) {
            figures += " · \(Moment.duration(remaining)) left"
        }
        let cells = max(10, min(40, width - figures.columns - 2))
        let full = min(cells, cells * progress.done / progress.known)
        let bar = Text(String(repeating: "█", count: full), .busy)
        return bar + Text(String(repeating: "░", count: cells - full), .faint) + "  \(figures)" + failures(progress)
    }

    private func failures(_ progress: Progress) -> Text {
        var text = Text()
        if progress.failed > 0 { text = text + " · \("\(progress.failed) failed", .bad)" }
        if progress.cancelled > 0 { text = text + " · \("\(progress.cancelled) cancelled", .held)" }
        return text
    }

    private func notes(_ progress: Progress) -> [Text] {
        let status = progress.status
        let paused = status.queues.filter(\.value.paused).sorted { $0.key < $1.key }.map { name, queue in
            Text("paused: \(name)" + (queue.reason.map { " (\($0))" } ?? ""), .held)
        }
        return status.problems.map { Text("problem: \($0)", .bad) } + paused
    }

    private func jobs(_ progress: Progress) -> [Text] {
        progress.latest.map { "  \($0.line)" }
    }

    private func summary(_ progress: Progress, now: Double) -> Text {
        let elapsed = Amount.milliseconds(progress.elapsed(now: now) * 1000)
        let successes = progress.done - progress.failed - progress.cancelled
        let head: Text = "\("\(successes) done", .good)" + failures(progress)
        return head + (progress.open > 0 ? " · \(progress.open) still open" : "") + " in \(elapsed)"
    }
}
