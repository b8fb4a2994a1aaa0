import Glibc
import PipelineControl
import SystemCalls

extension Option {
    fileprivate static let archive = Option("--archive", "originals of jobs that are done")
    fileprivate static let failed = Option("--failed", "originals of failed jobs, and the texts beside them")
    fileprivate static let cancelled = Option("--cancelled", "originals of cancelled jobs")
    fileprivate static let results = Option("--results", "published results, in all outboxes")
    fileprivate static let older = Option(
        "--older", value: "TIME", "only files that are older than this age, as 30d, or this date, as 2026-03-01")
    fileprivate static let to = Option(
        "--to", value: "SIZE", "the oldest files, until at most SIZE is left, as 500M or 200G")
    fileprivate static let recipe = Option("--recipe", value: "RECIPE", kinds: [.recipe], "only files of this recipe")
    fileprivate static let dryRun = Option("--dry-run", "show what would be removed, and remove nothing")
    fileprivate static let yes = Option("--yes", "don't ask for confirmation")
}

extension Verb {
    static let clean = Verb(
        name: "clean",
        summary: "remove old originals and results",
        usage:
            "--archive|--failed|--cancelled|--results [--older TIME] [--to SIZE] [--recipe RECIPE] [--dry-run|--yes]",
        discussion: [
            "Removes files that jobs have left, the oldest first, after asking. Without --older and --to, removes all; with",
            "both, removes files that match either. Never removes a file that somebody has changed.",
            "[Keep] in pipelined.conf does the same automatically.",
        ],
        options: [.archive, .failed, .cancelled, .results, .older, .to, .recipe, .dryRun, .yes],
        examples: [
            Example("pipectl clean --failed --older 30d --dry-run", "what would be removed"),
            Example("pipectl clean --archive --to 200G", "the oldest originals, until 200G are left"),
            Example("pipectl clean --failed --cancelled --older 7d --yes", "in a script"),
        ],
        run: { context in
            let invocation = context.invocation
            let places = cleanable.filter { invocation.has($0.option) }.map(\.place)
            guard !places.isEmpty else {
                throw Failure.usage(
                    "clean needs \(cleanable.map(\.option.name).joined(separator: ", "))\n`pipectl help clean` says more"
                )
            }
            var call = Call.Clean(
                places: places, older: invocation.value(.older), most: invocation.value(.to),
                recipe: invocation.value(.recipe), trial: true)
            if !invocation.has(.dryRun), !invocation.has(.yes) {
                let cleaned = try context.call(call).cleaned
                guard Terminal.isTerminal(STDIN_FILENO), !context.json else {
                    throw Failure.usage("clean asks first, and there is no terminal; use --yes, or --dry-run")
                }
                try context.print(cleaned, "would remove")
                guard cleaned.contains(where: { $0.files > 0 }) else { return .done }
                guard try context.agrees("Remove them?") else { return .done }
            }
            call.trial = invocation.has(.dryRun)
            let reply = try context.call(call)
            if context.json {
                try context.output.document(reply)
            } else {
                try context.print(reply.cleaned, call.trial == true ? "would remove" : "removed")
            }
            return reply.cleaned.contains { $0.refused > 0 } ? .failed : .done
        })

    private static let cleanable: [(option: Option, place: String)] = [
        (.archive, "archive"), (.failed, "failed"), (.cancelled, "cancelled"),
        (.results, "results"),
    ]
}

extension Context {
    fileprivate func print(_ cleaned: [Control.Cleaned], _ word: String) throws {
        for one in cleaned {
            try output.line(one.line(word))
            if one.refused > 0 {
                try output.line(
                    Text(
                        "\(Amount.counted(one.refused, "file")) of \(one.place) can't be removed: \(one.refusal ?? "")",
                        .bad))
            }
        }
    }

    /// Asks a question on the terminal. Any answer other than y or yes means no.
    fileprivate func agrees(_ question: String) throws -> Bool {
        try output.flush()
        let bytes = Array("\(question) [y/N] ".utf8)
        _ = write(STDERR_FILENO, bytes, bytes.count)
        return ["y", "yes"].contains(readLine()?.lowercased())
    }
}

extension Control.Cleaned {
    fileprivate func line(_ word: String) -> Text {
        guard files > 0, let oldest, let newest else { return "\(place): nothing to remove" }
        let (first, last) = (Moment.local(oldest), Moment.local(newest))
        let time = first == last ? "of \(first)" : "of \(first) to \(last)"
        return "\(place): \(word) \("\(Amount.counted(files, "file")), \(Amount.bytes(bytes))", .strong), \(time)"
    }
}
