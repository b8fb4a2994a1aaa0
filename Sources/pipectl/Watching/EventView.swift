import PipelineControl

/// A way to show what changes.
protocol EventView {
    mutating func show(_ events: [Control.Event]) throws
    /// Called when the figures have changed, and now and then while something is going on.
    mutating func draw(_ progress: Progress, now: Double) throws
    mutating func finish(_ progress: Progress, now: Double) throws
}

/// One line an event, as it comes.
struct EventLines: EventView {
    let output: Output
    let json: Bool

    func show(_ events: [Control.Event]) throws {
        for event in events {
            if json {
                try output.object(event)
            } else {
                try output.line(event.line)
            }
        }
        try output.flush()
    }

    func draw(_ progress: Progress, now: Double) {}

    func finish(_ progress: Progress, now: Double) {}
}
