import PipelineControl

extension Option {
    fileprivate static let batch = Option(
        "--batch", value: "N|NAME", kinds: [.batch], "the jobs of this batch, by its number or its name")
    fileprivate static let recipe = Option("--recipe", value: "RECIPE", kinds: [.recipe], "the jobs of this recipe")
    fileprivate static let state = Option(
        "--state", value: "STATE", kinds: [.oneOf(Verb.cancellable)],
        "jobs in this state; for several, repeat it or use commas")
}

extension Verb {
    static let cancel = Verb(
        name: "cancel",
        alias: "rm",
        summary: "stop jobs",
        usage: "ID…|[--batch N|NAME] [--recipe RECIPE] [--state STATE]",
        discussion: [
            "Returns when they have stopped. Nothing partial is published. Jobs that were done or had failed are unchanged;",
            "then the exit code is 1.",
            "With several of --batch, --recipe and --state, a job must match all of them.",
            "The states are \(cancellable.joined(separator: ", ")).",
        ],
        arguments: [Argument("ID", count: 0...Int.max, kinds: [.unfinishedJob], "a job's number")],
        options: [.batch, .recipe, .state],
        examples: [
            Example("pipectl cancel 12 13", "two jobs"),
            Example("pipectl cancel --batch lucerne", "the jobs of one folder, of one list, or of one add"),
            Example("pipectl cancel --recipe web --state queued,waiting", "the jobs of a recipe that have not begun"),
        ],
        run: { context in
            let invocation = context.invocation
            let wanted = try invocation.values(.state).flatMap { list in
                try states(list, among: cancellable) { "'\($0)' is not a state that can be cancelled" }
            }
            let isMatching = invocation.has(.batch) || invocation.has(.recipe) || !wanted.isEmpty
            guard invocation.arguments.isEmpty == isMatching else {
                throw Failure.usage(
                    "cancel needs IDs, or --batch, --recipe or --state; `pipectl cancel-all` stops everything")
            }
            if isMatching {
                let reply = try context.call(
                    Call.CancelMatching(
                        batch: try context.batch(.batch), recipe: invocation.value(.recipe), states: wanted))
                return try context.print(cancelled: reply.cancelled, reply)
            }
            var over: [Control.Job] = []
            try context.inTurn(context.invocation.ids()) { ids in
                for job in try context.call(Call.Cancel(ids: ids)).jobs {
                    try context.print(job)
                    if job.state != "cancelled", job.redo != "cancelled" { over.append(job) }
                }
            }
            guard let first = over.first else { return .done }
            let word = first.state == "failed" ? "has failed already" : "is \(first.state) already"
            let more = over.count > 1 ? "; the same goes for \(over.count - 1) more" : ""
            throw Failure("Refused", "job \(first.id) \(word) and can't be cancelled\(more)", .failed)
        })

    fileprivate static let cancellable = ["waiting", "queued", "running", "cancelling"]
}

extension Context {
    func print(cancelled: Int, _ reply: some Encodable) throws -> ExitCode {
        if json {
            try output.document(reply)
        } else {
            try output.line("cancelled \(Amount.counted(cancelled, "job"))")
        }
        return .done
    }
}
