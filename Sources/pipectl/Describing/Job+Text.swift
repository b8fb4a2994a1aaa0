import PipelineControl

extension Control.Job {
    var stateText: Text { Text(state, .state(state)) }

    /// What there is to say of the state: what came of it, or why nothing did, or what it waits for.
    var outcome: Text {
        if let error { return Text(error, .bad) }
        if let reason { return Text(reason, .held) }
        return Text(outputs.joined(separator: ", "))
    }

    /// The whole job on a line.
    var line: Text {
        let arrow: Text = outputs.isEmpty || error != nil ? "  " : " → "
        let head: Text = "#\(id) \(stateText)  \(input)"
        return outcome.isEmpty ? head : head + arrow + outcome
    }

    var succeeded: Bool { state == "done" }
}

extension Control.Picture {
    var dimensions: String { "\(width) × \(height)" }
}
