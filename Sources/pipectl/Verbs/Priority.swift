import PipelineControl
import PipelineModel

extension Option {
    fileprivate static let batch = Option(
        "--batch", value: "N|NAME", kinds: [.batch],
        "the jobs of this batch that have not begun, by its number or its name")
}

extension Verb {
    static let levels = ["low", "normal", "high"]

    static func checkPriority(_ word: String) throws {
        guard !levels.contains(word) else { return }
        throw Failure.usage(
            "'\(word)' is not a priority: write low, normal or high\(didYouMean(word, among: levels))")
    }

    static let priority = Verb(
        name: "priority",
        summary: "change which jobs begin first",
        usage: "ID…|--batch N|NAME low|normal|high",
        discussion: [
            "Applies to jobs that have not begun. Jobs of the same priority begin in the order of their arrival.",
            "`Priority=` in a recipe is the priority of its new jobs.",
        ],
        arguments: [
            Argument("ID", count: 0...Int.max, kinds: [.jobToBegin], "a job's number"),
            Argument("low|normal|high", kinds: [.oneOf(levels)], "the priority"),
        ],
        options: [.batch],
        examples: [
            Example("pipectl priority 12 13 high", "these two before all others"),
            Example("pipectl priority --batch 4 low", "when there is nothing else to do"),
        ],
        run: { context in
            let invocation = context.invocation
            let level = invocation.arguments.last ?? ""
            try checkPriority(level)
            let ids = try Invocation.ids(invocation.arguments.dropLast())
            guard ids.isEmpty == invocation.has(.batch) else {
                throw Failure.usage("priority needs IDs, or --batch\n`pipectl help priority` says more")
            }
            let batch = try context.batch(.batch)
            var reply = Call.Prioritise.Reply(changed: 0)
            try context.inTurn(ids) { ids in
                reply.changed += try context.call(Call.Prioritise(ids: ids, batch: batch, priority: level)).changed
            }
            if context.json {
                try context.output.document(reply)
            } else {
                try context.output.line("\(Amount.counted(reply.changed, "job")) with priority \(level)")
            }
            return .done
        })
}
