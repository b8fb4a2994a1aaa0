import PipelineControl

extension Option {
    fileprivate static let failed = Option("--failed", "all failed jobs")
    fileprivate static let cancelled = Option("--cancelled", "all cancelled jobs")
    fileprivate static let waiting = Option("--waiting", "all jobs that wait for their next try")
    fileprivate static let batch = Option(
        "--batch", value: "N|NAME", kinds: [.batch], "only jobs of this batch, by its number or its name")
}

extension Verb {
    static let retry = Verb(
        name: "retry",
        summary: "retry failed or cancelled jobs",
        usage: "ID…|[--failed] [--cancelled] [--waiting] [--batch N|NAME] [--wait [--timeout TIME]]",
        discussion: [
            "Their originals come back, and go through the current recipe. A job that comes after others",
            "waits until they are done; if one of them has failed, retry both.",
            "A job that waits for its next try is tried at once. --batch alone retries the failed and the cancelled",
            "jobs of that batch.",
        ],
        arguments: [Argument("ID", count: 0...Int.max, kinds: [.jobToRetry], "a job's number")],
        options: [.failed, .cancelled, .waiting, .batch, .wait, .timeout],
        examples: [
            Example("pipectl retry 12", "one job"),
            Example("pipectl retry --failed", "after the disk has been repaired"),
            Example("pipectl retry --failed --batch lucerne", "the failed jobs of one folder, one list, or one add"),
            Example("pipectl retry --waiting --wait", "when the server is back; waits until they are done"),
        ],
        run: { context in
            try context.invocation.checkWait()
            let ids = try context.invocation.ids()
            var states: [String] = []
            if context.invocation.has(.failed) { states.append("failed") }
            if context.invocation.has(.cancelled) { states.append("cancelled") }
            if context.invocation.has(.waiting) { states.append("waiting") }
            guard ids.isEmpty == (!states.isEmpty || context.invocation.has(.batch)) else {
                throw Failure.usage(
                    "retry needs IDs, or --failed, --cancelled, --waiting, or --batch\n`pipectl help retry` says more")
            }
            let batch = try context.batch(.batch)
            var reply = Call.Retry.Reply(retried: [])
            try context.inTurn(ids) { ids in
                reply.retried += try context.call(Call.Retry(ids: ids, states: states, batch: batch)).retried
            }
            if context.json {
                try context.output.document(reply)
            } else {
                try context.output.line(
                    reply.retried.isEmpty
                        ? "nothing to retry"
                        : "retrying \(Amount.counted(reply.retried.count, "job"))\(reply.retried.few)")
            }
            guard context.invocation.has(.wait), !reply.retried.isEmpty else { return .done }
            try context.output.flush()
            return try context.waitFor(reply.retried)
        })
}
