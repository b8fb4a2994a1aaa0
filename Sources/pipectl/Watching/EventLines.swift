import PipelineControl

/// One line an event, as it comes.
struct EventLines {
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
}
