import PipelineControl
import SystemCalls

extension Option {
    fileprivate static let to = Option(
        "--to", value: "DIR", kinds: [.folder],
        "the folder for the originals, instead of cancelled/; the daemon must be able to write it")
}

extension Verb {
    static let undo = Verb(
        name: "undo",
        summary: "withdraw results, and bring originals back",
        usage: "ID…|[--batch N|NAME] [--recipe RECIPE] [--since TIME] [--to DIR] [--dry-run]",
        discussion: [
            "The results of done jobs are removed from the outbox, and their originals go from the archive to cancelled/,",
            "or to DIR. The jobs are then cancelled, and `pipectl retry` processes them again. A result that somebody has",
            "changed stays. An original that was kept in its inbox stays there, and is not taken again.",
            "A picture whose original was deleted can't be undone: it is counted, and the exit code is 1.",
            "With several of --batch, --recipe and --since, a job must match all of them. A TIME is as in `pipectl list`.",
        ],
        arguments: [Argument("ID", count: 0...Int.max, kinds: [.doneJob], "a job's number")],
        options: [.doneBatch, .doneRecipe, .doneSince, .to, .doneDryRun],
        examples: [
            Example("pipectl undo 12", "one job"),
            Example("pipectl undo --batch 4 --dry-run", "how many would it be?"),
            Example("pipectl undo --recipe web --since 1h --to /srv/again", "the originals of an hour, elsewhere"),
        ],
        run: { context in
            let invocation = context.invocation
            let call = Call.Undo(
                ids: try invocation.ids(), batch: try context.batch(.doneBatch),
                recipe: invocation.value(.doneRecipe), since: invocation.value(.doneSince),
                to: invocation.value(.to).map(FileSystem.absolute), check: invocation.has(.doneDryRun) ? true : nil)
            let isFiltering = call.batch != nil || call.recipe != nil || call.since != nil
            guard call.ids.isEmpty == isFiltering else {
                throw Failure.usage("undo needs IDs, or --batch, --recipe or --since\n`pipectl help undo` says more")
            }
            var reply = Call.Undo.Reply(jobs: [], refused: [], remarks: [])
            try context.inTurn(call.ids) { ids in
                var some = call
                some.ids = ids
                let next = try context.call(some)
                reply.jobs += next.jobs
                reply.refused.add(next.refused)
                reply.remarks.add(next.remarks)
            }
            try context.print(reply)
            return reply.refused.isEmpty ? .done : .failed
        })
}

extension Context {
    fileprivate func print(_ reply: Call.Undo.Reply) throws {
        if json { return try output.document(reply) }
        try print(reply.jobs, reply.refused, reply.remarks, .undo)
    }
}
