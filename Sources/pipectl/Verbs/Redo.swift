import PipelineControl
import SystemCalls

extension Option {
    fileprivate static let all = Option("--all", short: "-a", "every job that is done")
    static let doneDryRun = Option(
        "--dry-run", "change nothing: count the jobs, and the jobs that can't be chosen, with the reasons")
    static let doneSince = Option("--since", value: "TIME", "the jobs that ended since then")
    static let doneBatch = Option(
        "--batch", value: "N|NAME", kinds: [.batch], "the jobs of this batch, by its number or its name")
    static let doneRecipe = Option("--recipe", value: "RECIPE", kinds: [.recipe], "the jobs of this recipe")
}

extension Verb {
    static let redo = Verb(
        name: "redo",
        summary: "process done jobs again",
        usage: "ID…|PATH|[--batch N|NAME] [--recipe RECIPE] [--since TIME]|--all [--dry-run] [--wait [--timeout TIME]]",
        discussion: [
            "Their originals come back from the archive, and go through the current recipe. The earlier results",
            "stay until the new ones are safe; then all results of a picture are replaced at the same moment. A result",
            "that somebody has changed stays, and the new one gets another name. When a redo fails or is cancelled, the",
            "job is done as before.",
            "PATH is an original in the archive, or a folder there. A picture that was deleted (Original=delete) can't be",
            "processed again: it is counted, and the exit code is 1.",
            "With several of --batch, --recipe and --since, a job must match all of them. A TIME is as in `pipectl list`.",
        ],
        arguments: [
            Argument(
                "ID|PATH", count: 0...Int.max, kinds: [.doneJob, .file], "a job's number, or the path of its original")
        ],
        options: [.doneBatch, .doneRecipe, .doneSince, .all, .doneDryRun, .wait, .timeout],
        examples: [
            Example("pipectl redo 12", "one job"),
            Example("pipectl redo --recipe web --since 7d --dry-run", "how many would it be?"),
            Example("pipectl redo /var/lib/pipelined/archive/web/lucerne --wait", "a folder of originals"),
        ],
        run: { context in
            let invocation = context.invocation
            try invocation.checkWait()
            if invocation.has(.doneDryRun), invocation.has(.wait) {
                throw Failure.usage("--dry-run and --wait exclude each other: nothing is begun")
            }
            let calls = try context.redoCalls()
            var reply = Call.Redo.Reply(jobs: [], refused: [], remarks: [], unknown: 0)
            for call in calls {
                let next = try context.call(call)
                reply.jobs += next.jobs
                reply.refused.add(next.refused)
                reply.remarks.add(next.remarks)
                reply.unknown += next.unknown
            }
            try context.print(reply, at: calls.compactMap(\.path))
            let code = reply.refused.isEmpty ? ExitCode.done : .failed
            guard invocation.has(.wait), !reply.jobs.isEmpty else { return code }
            try context.output.flush()
            return try context.waitFor(reply.jobs) == .done ? code : .failed
        })
}

extension Context {
    /// A call for each path and each chunk of IDs; a single call if there are filters or `--all` instead.
    fileprivate func redoCalls() throws -> [Call.Redo] {
        let check = invocation.has(.doneDryRun) ? true : nil
        let (recipe, since) = (invocation.value(.doneRecipe), invocation.value(.doneSince))
        let batch = try batch(.doneBatch)
        let isFiltering = batch != nil || recipe != nil || since != nil
        let words = invocation.arguments
        guard [!words.isEmpty, isFiltering, invocation.has(.all)].count(where: { $0 }) == 1 else {
            throw Failure.usage(
                "redo needs IDs or a path, or --batch, --recipe or --since, or --all\n`pipectl help redo` says more")
        }
        guard !words.isEmpty else {
            return [
                Call.Redo(
                    ids: [], batch: batch, recipe: recipe, since: since, all: invocation.has(.all) ? true : nil,
                    check: check)
            ]
        }
        let paths = words.filter {
            Invocation.id($0) == nil && ($0.utf8.contains(UInt8(ascii: "/")) || FileSystem.mayExist($0))
        }
        var calls = paths.map { path in
            Call.Redo(ids: [], path: FileSystem.absolute(path), check: check)
        }
        guard paths.count < words.count else { return calls }
        try inTurn(Invocation.ids(words.filter { !paths.contains($0) })) {
            calls.append(Call.Redo(ids: $0, check: check))
        }
        return calls
    }

    fileprivate func print(_ reply: Call.Redo.Reply, at paths: [String]) throws {
        if json { return try output.document(reply) }
        try print(reply.jobs, reply.refused, reply.remarks, .redo)
        if !paths.isEmpty, reply.jobs.isEmpty, reply.refused.isEmpty, reply.unknown == 0 {
            let place = paths.count == 1 ? "\(paths[0])" : "one of these paths"
            try output.line("no job that is done has its original at \(place), or below it")
        }
        guard reply.unknown > 0 else { return }
        let files = Amount.counted(reply.unknown, "file")
        let words =
            reply.unknown == 1
            ? "is no longer a job's original; `pipectl add` takes it"
            : "are no longer originals of jobs; `pipectl add` takes them"
        try output.line("\(files) there \(words)")
    }
}
