import PipelineControl

extension Verb {
    static let cancel = Verb(
        name: "cancel",
        summary: "stop jobs",
        usage: "ID…",
        discussion: [
            "Answers when they have stopped. Nothing partial is published; what had finished stays finished."
        ],
        arguments: [Argument("ID", count: 1...Int.max, "a job's number")],
        examples: [Example("pipectl cancel 12 13", "these two")],
        run: { context in
            try context.inTurn(context.invocation.ids()) { ids in
                for job in try context.call(Call.Cancel(ids: ids)).jobs { try context.print(job) }
            }
            return .done
        })
}
