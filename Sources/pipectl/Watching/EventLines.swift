import PipelineControl

/// Prints events as they arrive, one per line.
struct EventLines {
    let output: Output
    let json: Bool

    func show(_ events: [Control.Event]) throws {
        for event in events {
            if json {
                try output.object(event)
            } else if !["published", "over"].contains(event.kind) {
                // Skips `published` and `over`: the line of the `job` event already shows how the job ended.
                try output.line(event.line)
            }
        }
        try output.flush()
    }
}
