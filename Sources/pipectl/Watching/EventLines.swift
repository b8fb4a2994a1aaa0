import PipelineControl

/// Prints a line for each event, as it comes.
struct EventLines {
    let output: Output
    let json: Bool

    func show(_ events: [Control.Event]) throws {
        for event in events {
            if json {
                try output.object(event)
            } else if event.kind != "published" {
                // The job's own line says already that it is done.
                try output.line(event.line)
            }
        }
        try output.flush()
    }
}
