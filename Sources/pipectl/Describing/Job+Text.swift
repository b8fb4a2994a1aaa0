import PipelineControl

extension Control.Job {
    var stateText: Text { Text(state, .state(state)) }

    /// What people call the job. A download has the name of its URL.
    var name: String { url.map(WebName.short) ?? input }

    /// What there is to say of the state: what came of it, or why nothing did, or what it waits for.
    var outcome: Text { reasonText ?? .name(outputs.joined(separator: ", ")) }

    /// The same, with a line for each result.
    var outcomes: [Text] { reasonText.map { [$0] } ?? outputs.map { .name($0) } }

    private var reasonText: Text? { error.map { Text($0, .bad) } ?? reason.map { Text($0, .held) } }

    /// The whole job on a line.
    var line: Text {
        let arrow: Text = outputs.isEmpty || error != nil ? "  " : " → "
        let head: Text = "#\(id) \(stateText)  \(name)"
        return outcome.isEmpty ? head : head + arrow + outcome
    }

    var succeeded: Bool { state == "done" }
}

extension Control.Picture {
    var dimensions: String { "\(width) × \(height)" }
}
