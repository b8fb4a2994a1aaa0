import PipelineControl

/// Prints a line for each event, as it comes.
struct EventLines {
    let output: Output
    let json: Bool

    func show(_ events: [Control.Event]) throws {
        for event in events {
            if json {
                try output.object(event)
            } else if !["published", "over"].contains(event.kind) {
                // A job's own line already says how it ended.
                try output.line(event.line)
            }
        }
        try output.flush()
    }
}
