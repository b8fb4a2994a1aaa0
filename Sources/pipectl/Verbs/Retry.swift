import PipelineControl

extension Option {
    fileprivate static let failed = Option("--failed", "all that have failed")
    fileprivate static let cancelled = Option("--cancelled", "all that were cancelled")
}

extension Verb {
    static let retry = Verb(
        name: "retry",
        summary: "bring failed or cancelled jobs back",
        usage: "ID…|--failed|--cancelled",
        discussion: [
            "Their originals come back, and go through the recipe as it is now. One that comes after others waits",
            "until they are done; if one of them has failed, both have to be brought back.",
        ],
        arguments: [Argument("ID", count: 0...Int.max, "a job's number")],
        options: [.failed, .cancelled],
        examples: [
            Example("pipectl retry 12", "one job"),
            Example("pipectl retry --failed", "after the disk has room again"),
        ],
        run: { context in
            let ids = try context.invocation.ids()
            var states: [String] = []
            if context.invocation.has(.failed) { states.append("failed") }
            if context.invocation.has(.cancelled) { states.append("cancelled") }
            guard ids.isEmpty != states.isEmpty else {
                throw Failure.usage("retry wants IDs, or --failed, or --cancelled\n`pipectl help retry` says more")
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
