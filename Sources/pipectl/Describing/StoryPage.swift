import PipelineControl

/// The text of `pipectl show`: a job's story, from its original to its results.
struct StoryPage {
    let story: Control.Story
    /// The job's node; nil for this machine.
    var node: String?
    let width: Int?

    var lines: [Text] {
        let place = node.map { " on \($0)" } ?? ""
        return ["\("Job \(story.job.id)\(place)", .strong)  \(story.job.stateText)"] + facts.lines(width: width)
            + operations
    }

    private var facts: Table {
        let job = story.job
        var table = Table([.init(title: ""), .init(title: "", fit: .words)])
        func fact(_ name: String, _ value: Text?) {
            if let value { table.add(Text("  " + name, .faint), value) }
        }
        fact("error", job.error.map { Text($0, .bad) })
        fact("class", job.failure.map { Text(Self.words(of: $0)) })
        fact("what to do", story.advice.map { Text($0) })
        fact(job.state == "waiting" ? "waiting for" : "reason", job.reason.map { Text($0, .halted) })
        if job.setbacks > 0 { fact("setbacks", "\(job.setbacks)") }
        fact("after", neighbours(story.after))
        fact("followed by", neighbours(story.followers))
        fact("priority", story.priority == "normal" ? nil : Text(story.priority))
        fact("recipe", Text(job.recipe))
        fact("batch", job.batch.map { "batch \($0)" })
        fact("url", job.url.map { Text(WebName.short($0)) })
        fact("input", Text(job.input))
        fact("picture", story.header.map { Text($0) })
        fact("caption", story.caption.map { Text($0.replacing("\n", with: " ")) })
        fact("credit", story.credit.map { Text($0) })
        fact("original", story.removed.map { Text($0, .halted) } ?? story.original.map { Text($0) })
        for (index, output) in job.outputs.enumerated() {
            let made = job.after.count == job.outputs.count ? job.after[index] : nil
            let size = made.map { Text("  \($0.dimensions), \(Amount.bytes($0.bytes))", .faint) }
            fact(index > 0 ? "" : job.outputs.count > 1 ? "results" : "result", Text(output) + (size ?? Text()))
        }
        fact("size", size.map { Text($0) })
        fact("created", Text(Moment.full(job.created)))
        fact("started", story.started.map { Text(Moment.full($0)) })
        fact("finished", job.finished.map { Text(Moment.full($0)) })
        fact("took", job.milliseconds.map { Text(Amount.milliseconds($0)) })
        if story.tries > 1 { fact("tries", "\(story.tries)") }
        for (name, chain) in story.chains.sorted(by: { $0.key < $1.key }) {
            fact(name.isEmpty ? "chain" : "chain \(name)", Text(chain))
        }
        return table
    }

    /// At most ten of the jobs, such as `#12 done, #13 running and 98 more`.
    private func neighbours(_ neighbours: Control.Neighbours) -> Text? {
        guard neighbours.count > 0 else { return nil }
        let few = neighbours.jobs.prefix(10)
        let list = few.map { "#\($0.id) \($0.state ?? "forgotten")" }.joined(separator: ", ")
        return Text(list + (neighbours.count > few.count ? " and \(neighbours.count - few.count) more" : ""))
    }

    private var size: String? {
        guard let before = story.job.before?.bytes else { return nil }
        guard !story.job.after.isEmpty else { return Amount.bytes(before) }
        let after = story.job.after.map(\.bytes).sum
        let share = before > 0 ? " (\(Int(nearest: Double(after) / Double(before) * 100)) %)" : ""
        return "\(Amount.bytes(before)) → \(Amount.bytes(after))\(share)"
    }

    /// The meaning of a failure's class.
    private static func words(of failure: String) -> String {
        let meaning =
            switch failure {
            case "input": "the picture or its chain is at fault"
            case "transient": "a passing failure"
            case "room": "no space in the outbox, or for the download"
            case "crash": "its worker crashed"
            case "timeout": "it took too long"
            case "configuration": "something that the recipe needs is missing, or not permitted"
            case "dependency": "a job before it has failed, or was cancelled"
            default: ""
            }
        return meaning.isEmpty ? failure : "\(failure): \(meaning)"
    }

    /// A line for each operation of each attempt; the reason of a failed operation follows below it.
    private var operations: [Text] {
        guard let first = story.operations.first else { return [] }
        let hasTries = story.operations.contains { $0.attempt > 1 }
        var table = Table([
            .init(title: hasTries ? "TRY" : "", right: true), .init(title: "OPERATION"), .init(title: "STATE"),
            .init(title: "STARTED", spare: 1), .init(title: "TOOK", right: true),
            .init(title: "WORKER", right: true, spare: 3), .init(title: "READ", right: true, spare: 2),
            .init(title: "WRITTEN", right: true, spare: 2), .init(title: "", fit: .words),
        ])
        var attempt = 0
        for operation in story.operations {
            let isNew = hasTries && operation.attempt != attempt
            attempt = operation.attempt
            table.add(
                Text(isNew ? "\(attempt)" : ""), Text(operation.kind),
                Text(operation.state, .state(operation.state)),
                Text(operation.started.map { Moment.local($0) } ?? "", .faint), Text(duration(of: operation) ?? ""),
                Text(operation.worker.map { "\($0)" } ?? "", .faint), Text(operation.read.map(Amount.bytes) ?? ""),
                Text(operation.written.map(Amount.bytes) ?? ""),
                Text(isFailed(operation) ? "" : operation.progress?.words ?? operation.detail ?? "")
            )
            if isFailed(operation), let reason = operation.detail {
                table.note(Text(operation.failure.map { "\(reason) (\($0))" } ?? reason, .bad))
            }
        }
        let gap: [Text] =
            first.attempt > 1 ? [Text("no history is kept of the tries before try \(first.attempt)", .faint)] : []
        return [""] + gap + table.lines(width: width)
    }

    private func isFailed(_ operation: Control.Operation) -> Bool { operation.state == "failed" }

    private func duration(of operation: Control.Operation) -> String? {
        guard let start = operation.started.flatMap(Moment.seconds),
            let end = operation.finished.flatMap(Moment.seconds)
        else { return nil }
        return Amount.milliseconds((end - start) * 1000)
    }
}
