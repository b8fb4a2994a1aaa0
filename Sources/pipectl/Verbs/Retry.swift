import PipelineControl

extension Option {
    fileprivate static let failed = Option("--failed", "all that have failed")
    fileprivate static let cancelled = Option("--cancelled", "all that were cancelled")
    fileprivate static let waiting = Option("--waiting", "all that wait for their next try")
}

extension Verb {
    static let retry = Verb(
        name: "retry",
        summary: "bring failed or cancelled jobs back",
        usage: "ID…|--failed|--cancelled|--waiting",
        discussion: [
            "Their originals come back, and go through the recipe as it is now. A job that comes after others",
            "waits until they are done; if one of them has failed, bring back both.",
            "A job that waits for its next try is tried at once.",
        ],
        arguments: [Argument("ID", count: 0...Int.max, kinds: [.jobToRetry], "a job's number")],
        options: [.failed, .cancelled, .waiting],
        examples: [
            Example("pipectl retry 12", "one job"),
            Example("pipectl retry --failed", "after the disk has been mended"),
            Example("pipectl retry --waiting", "now that the server is back"),
        ],
        run: { context in
            let ids = try context.invocation.ids()
            var states: [String] = []
            if context.invocation.has(.failed) { states.append("failed") }
            if context.invocation.has(.cancelled) { states.append("cancelled") }
            if context.invocation.has(.waiting) { states.append("waiting") }
            guard ids.isEmpty != states.isEmpty else {
                throw Failure.usage(
                    "retry wants IDs, or --failed, --cancelled, or --waiting\n`pipectl help retry` says more")
            }
            var reply = Call.Retry.Reply(retried: [])
            try context.inTurn(ids) { ids in
                reply.retried += try context.call(Call.Retry(ids: ids, states: states)).retried
            }
            if context.json {
                try context.output.document(reply)
            } else {
                let few = reply.retried.count <= 10 ? reply.retried : []
                let list = few.isEmpty ? "" : ": " + few.map { "#\($0)" }.joined(separator: " ")
                try context.output.line(
                    reply.retried.isEmpty
                        ? "nothing to retry" : "retrying \(Amount.counted(reply.retried.count, "job"))\(list)")
            }
            return .done
        })
}
