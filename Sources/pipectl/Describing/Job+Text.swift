import PipelineControl

extension Control.Job {
    var stateText: Text { Text(state, .state(state)) }

    /// The job's name for people. A download has the name of its URL.
    var name: String { url.map(WebName.short) ?? input }

    /// The job's results, or the reason why there are none, or why it waits.
    var outcome: Text { reasonText ?? .name(outputs.joined(separator: ", ")) }

    /// The job's outcome, with a line for each result.
    var outcomes: [Text] { reasonText.map { [$0] } ?? outputs.map { .name($0) } }

    private var reasonText: Text? {
        if let error { return Text(redo == "failed" ? "redo failed: \(error)" : error, .bad) }
        return reason.map { Text($0, .halted) }
    }

    /// The whole job on a line.
    var line: Text {
        let arrow: Text = outputs.isEmpty || error != nil ? "  " : " → "
        let head: Text = "#\(id) \(stateText)  \(name)"
        return outcome.isEmpty ? head : head + arrow + outcome
    }

    /// A redo that has brought nothing new has not, though the job is done as before.
    var succeeded: Bool { state == "done" && redo == nil }
}

extension Control.Picture {
    var dimensions: String { "\(width) × \(height)" }
}
