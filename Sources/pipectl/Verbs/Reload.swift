import PipelineControl

extension Option {
    fileprivate static let check = Option("--check", "say what a reload would say, and change nothing")
}

extension Verb {
    static let reload = Verb(
        name: "reload",
        summary: "read configuration and plugins again",
        usage: "[--check]",
        discussion: [
            "Prints every mistake; if there is one, nothing has changed, and the exit code is 1. A plugin that can't be",
            "loaded is left out: all else takes effect, file and reason are printed, and the exit code is 1, too.",
        ],
        options: [.check],
        examples: [
            Example("pipectl reload", "after a recipe was written"),
            Example("pipectl reload --check", "before that: is it right?"),
        ],
        run: { context in
            let isTrial = context.invocation.has(.check)
            let reply = try context.call(Call.Reload(check: isTrial ? true : nil))
            if context.json {
                try context.output.document(reply)
                return reply.problems.isEmpty && reply.skipped.isEmpty ? .done : .failed
            }
            guard reply.problems.isEmpty else {
                let lines = reply.problems.map(\.placed).joined(separator: "\n")
                let head = isTrial ? "a reload would change nothing" : "nothing was changed"
                throw Failure("BadConfiguration", "\(head):\n\(lines)", .failed)
            }
            try context.output.line(
                isTrial ? "configuration and plugins are right" : "configuration and plugins have been read again")
            guard reply.skipped.isEmpty else {
                let lines = reply.skipped.map { "\($0.file): \($0.reason)" }
                let count = Amount.counted(lines.count, "plugin")
                let left = isTrial ? "would be left out" : lines.count == 1 ? "was left out" : "were left out"
                throw Failure("PluginsLeftOut", "\(count) \(left):\n\(lines.joined(separator: "\n"))", .failed)
            }
            return .done
        })
}

extension Control.Problem {
    /// The place and the message, as compilers write them.
    var placed: String { "\(file):\(line.map { "\($0):" } ?? "") \(message)" }
}
