import PipelineControl

extension Verb {
    static let reload = Verb(
        name: "reload",
        summary: "read configuration and plugins again",
        discussion: [
            "Prints every mistake; if there is one, nothing has changed, and the exit code is 1. A plugin that can't be",
            "loaded is left out: all else takes effect, file and reason are printed, and the exit code is 1, too.",
        ],
        examples: [Example("pipectl reload", "after a recipe was written")],
        run: { context in
            let reply = try context.call(Call.Reload())
            if context.json {
                try context.output.document(reply)
                return reply.problems.isEmpty && reply.skipped.isEmpty ? .done : .failed
            }
            guard reply.problems.isEmpty else {
                let lines = reply.problems.map { problem in
                    "\(problem.file):\(problem.line.map { "\($0):" } ?? "") \(problem.message)"
                }
                throw Failure("BadConfiguration", "nothing was changed:\n\(lines.joined(separator: "\n"))", .failed)
            }
            try context.output.line("configuration and plugins have been read again")
            guard reply.skipped.isEmpty else {
                let lines = reply.skipped.map { "\($0.file): \($0.reason)" }
                let count = lines.count == 1 ? "1 plugin was" : "\(lines.count) plugins were"
                throw Failure("PluginsLeftOut", "\(count) left out:\n\(lines.joined(separator: "\n"))", .failed)
            }
            return .done
        })
}
