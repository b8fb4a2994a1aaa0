import PipelineControl

extension Control.Job {
    var stateText: Text { Text(state, .state(state)) }

    /// The job's display name: a download is named after its URL.
    var name: String { url.map(WebName.short) ?? input }

    /// The job's results, or the reason why the job waits or has no results. If there are both, the results come first.
    var outcome: Text {
        let results = Text.name(outputs.joined(separator: ", ")) + left(by: after)
        guard let reasonText else { return results }
        return hasResults ? results + "; " + reasonText : reasonText
    }

    /// The job's outcome, with a line for each result.
    var outcomes: [Text] {
        if let reasonText, !hasResults { return [reasonText] }
        let pictures = after.count == outputs.count ? after.map { [$0] } : outputs.map { _ in [] }
        return zip(outputs, pictures).map { .name($0) + left(by: $1) } + [reasonText].compactMap(\.self)
    }

    /// Whether the job has published new results. A job with results may also have a reason.
    private var hasResults: Bool { succeeded && error == nil && !outputs.isEmpty }

    /// `(1 of 24 frames)`, if the original is an animation or a document, and each result contains only one of its
    /// frames or pages.
    private func left(by results: [Control.Picture]) -> Text {
        guard let pages = before?.pages, pages > 1, !results.isEmpty, results.allSatisfy({ $0.pages == 1 }) else {
            return Text()
        }
        let words = ["gif": "frames", "png": "frames", "webp": "frames", "tiff": "pages"]
        return Text(" (1 of \(pages) \(words[before?.format ?? ""] ?? "pictures"))", .faint)
    }

    private var reasonText: Text? {
        if let error { return Text(redo == "failed" ? "redo failed: \(error)" : error, .bad) }
        return reason.map { Text($0, .halted) }
    }

    /// The job's ID, state, name and outcome on one line.
    var line: Text {
        let arrow: Text = outputs.isEmpty || error != nil ? "  " : " → "
        let head: Text = "#\(id) \(stateText)  \(name)"
        return outcome.isEmpty ? head : head + arrow + outcome
    }

    /// Whether the job is done with new results. The state stays `done` when a redo fails.
    var succeeded: Bool { state == "done" && redo == nil }
}

extension Control.Picture {
    /// Width and height, and the number of frames or pages if there are several: `480 × 270 × 24`.
    var dimensions: String { "\(width) × \(height)" + (pages.map { $0 > 1 ? " × \($0)" : "" } ?? "") }
}
