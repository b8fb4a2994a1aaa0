import PipelineControl

extension Control.Batch {
    /// A line about an event of the batch: "batch 3 ended  lucerne.urls  19 done, 1 failed".
    func line(_ news: String?) -> Text {
        var line: Text = "batch \(id) \(news ?? "", .good)"
        if let name { line = line + "  \(name)" }
        return line + "  \(counts)"
    }

    var unended: Int { [waiting, queued, running, cancelling].sum }

    /// "19 done, 1 failed"
    var counts: String {
        let parts = [
            (waiting, "waiting"), (queued, "queued"), (running, "running"), (cancelling, "cancelling"),
            (done, "done"), (failed, "failed"), (cancelled, "cancelled"),
        ]
        return parts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
    }
}
