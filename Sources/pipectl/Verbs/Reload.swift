import PipelineControl

extension Option {
    fileprivate static let check = Option("--check", "report what a reload would report, and change nothing")
    fileprivate static let quiet = Option("--quiet", short: "-q", "print mistakes only")
}

extension Verb {
    static let reload = Verb(
        name: "reload",
        summary: "read configuration and plugins again",
        usage: "[--check] [--quiet]",
        discussion: [
            "Prints all mistakes. If there are any, nothing has changed, and the exit code is 1. A plugin that can't be",
            "loaded is left out, and a hook that can't be run is not run: everything else takes effect, file and reason are",
            "printed, and the exit code is also 1.",
        ],
        options: [.check, .quiet],
        examples: [
            Example("pipectl reload", "after a recipe was written"),
            Example("pipectl reload --check", "before that: check it"),
        ],
        run: { context in
            let isTrial = context.invocation.has(.check)
            let reply = try context.call(Call.Reload(check: isTrial ? true : nil))
            if context.json {
                try context.output.document(reply)
                return reply.problems.isEmpty && reply.skipped.isEmpty && reply.hooks.isEmpty ? .done : .failed
            }
            guard reply.problems.isEmpty else {
                let lines = reply.problems.map(\.placed).joined(separator: "\n")
                let head = isTrial ? "a reload would change nothing" : "nothing was changed"
                throw Failure("BadConfiguration", "\(head):\n\(lines)", .failed)
            }
            if !context.invocation.has(.quiet) {
                try context.output.line(
                    isTrial ? "configuration and plugins are right" : "configuration and plugins have been read again")
            }
            guard reply.skipped.isEmpty, reply.hooks.isEmpty else {
                throw Failure(
                    reply.skipped.isEmpty ? "HooksNotRun" : "PluginsLeftOut",
                    (leftOut(reply.skipped, isTrial) + notRun(reply.hooks)).joined(separator: "\n"), .failed)
            }
            return .done
        })

    private static func leftOut(_ plugins: [Control.SkippedPlugin], _ isTrial: Bool) -> [String] {
        guard !plugins.isEmpty else { return [] }
        let left = isTrial ? "would be left out" : plugins.count == 1 ? "was left out" : "were left out"
        return ["\(Amount.counted(plugins.count, "plugin")) \(left):"] + plugins.map { "\($0.file): \($0.reason)" }
    }

    private static func notRun(_ hooks: [Control.Problem]) -> [String] {
        guard !hooks.isEmpty else { return [] }
        return ["\(Amount.counted(hooks.count, "hook")) can't be run:"] + hooks.map(\.placed)
    }
}

extension Control.Problem {
    /// `FILE:LINE: MESSAGE`, as compilers write it.
    var placed: String { "\(file):\(line.map { "\($0):" } ?? "") \(message)" }
}
