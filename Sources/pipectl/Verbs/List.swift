import PipelineControl
import PipelineModel

extension Option {
    fileprivate static let state = Option(
        "--state", value: "STATE", kinds: [.oneOf(Verb.states)],
        "jobs in this state only; for several, repeat it or use commas")
    fileprivate static let waiting = Option("--waiting", "the same as --state waiting")
    fileprivate static let queued = Option("--queued", "the same as --state queued")
    fileprivate static let running = Option("--running", "the same as --state running")
    fileprivate static let done = Option("--done", "the same as --state done")
    fileprivate static let failed = Option("--failed", "the same as --state failed")
    fileprivate static let cancelled = Option("--cancelled", "the same as --state cancelled")
    fileprivate static let recipe = Option("--recipe", value: "RECIPE", kinds: [.recipe], "jobs of this recipe only")
    fileprivate static let batch = Option(
        "--batch", value: "N|NAME", kinds: [.batch], "jobs of this batch only, by its number or its name")
    fileprivate static let since = Option(
        "--since", value: "TIME", "jobs that ended since then, or were taken since then and have not ended")
    fileprivate static let until = Option("--until", value: "TIME", "the same, before then")
    fileprivate static let limit = Option("--limit", short: "-n", value: "N", "the newest N only")
    fileprivate static let before = Option(
        "--before", value: "ID", kinds: [.anyJob], "jobs with a lower number only: with --limit, the page before")
    fileprivate static let long = Option("--long", "sizes before and after, and how long it took, one line per result")
}

extension Verb {
    static let list = Verb(
        name: "list",
        alias: "ls",
        summary: "the jobs, oldest first",
        usage:
            "[--state STATE] [--waiting] [--queued] [--running] [--done] [--failed] [--cancelled] [--since TIME] [--until TIME] "
            + "[--recipe RECIPE] [--batch N|NAME] [--limit N] [--before ID] [--long] [--node NODE | --fleet]",
        discussion: [
            "The states: \(states.joined(separator: ", ")).",
            "A waiting job says what it waits for.",
            "A TIME is how long ago (90s, 30min, 1h, 2d), or when it was (09:30, 2026-03-01, 2026-03-01T09:30:00Z).",
            "Ended jobs are remembered for History=.",
            "With --node and --fleet, shows the jobs that these machines have taken in: the newest \(usualLimit) of each without",
            "--limit. Each machine has its own job IDs and batch numbers. A machine that does not answer is named.",
        ],
        options: [
            .state, .waiting, .queued, .running, .done, .failed, .cancelled, .since, .until, .recipe, .batch, .limit,
            .before, .long, .node, .wholeFleet,
        ],
        examples: [
            Example("pipectl list --state running,queued", "the work in progress"),
            Example("pipectl list --failed --limit 5", "the latest failures, with their reasons"),
            Example("pipectl list --failed --since 1h --recipe noir", "its failures within the last hour"),
            Example("pipectl list --fleet --running", "the running jobs of all nodes"),
            Example("pipectl list --json | jq -r '.outputs[]'", "every result's path"),
        ],
        run: { context in
            let invocation = context.invocation
            var wanted = try invocation.values(.state).flatMap { list in
                try states(list, among: states) { "there is no state '\($0)'" }
            }
            for (option, state) in shorthands where invocation.has(option) { wanted.append(state) }
            let nodes = try ChosenNodes(invocation)
            if nodes != nil, let batch = invocation.value(.batch), Int(batch) == nil {
                throw Failure.usage(
                    "with --node and --fleet, --batch needs a number: names are known only on their own machine")
            }
            let call = Call.List(
                states: wanted, recipe: invocation.value(.recipe), batch: try context.batch(.batch),
                limit: try invocation.number(.limit), since: invocation.value(.since),
                until: invocation.value(.until), before: try invocation.number(.before))
            if let nodes { return try list(call, on: nodes, context) }
            let client = try context.client()
            guard context.json else {
                var jobs: [Control.Job] = []
                try client.stream(call) { reply in
                    jobs += reply.jobs
                    return true
                }
                try print(jobs, context)
                return .done
            }
            try client.stream(call) { reply in
                for job in reply.jobs { try context.output.object(job) }
                return true
            }
            return .done
        })

    private static func print(_ jobs: [Control.Job], of nodes: [String] = [], _ context: Context) throws {
        let width = context.output.columns
        let table =
            context.invocation.has(.long)
            ? Table(picturesOf: jobs, of: nodes) : Table(jobs, of: nodes, aLineForEachResult: width != nil)
        try context.output.lines(table.isEmpty ? ["no jobs"] : table.lines(width: width))
    }

    /// Number of jobs that are listed per node if `--limit` is not given.
    private static let usualLimit = 50
    /// Jobs per page. A page of this size fits into a message between nodes.
    private static let page = 30

    private static func list(_ call: Call.List, on nodes: ChosenNodes, _ context: Context) throws -> ExitCode {
        let limit = call.limit ?? usualLimit
        var (jobs, owners, silent): ([Control.Job], [String], [NodeSilence]) = ([], [], [])
        var isCut = false
        var call = call
        call.limit = min(limit, page)
        for first in try nodes.ask(call, context) {
            do {
                let own = try rest(behind: first.answer.get().jobs, of: first.node, call, limit, context)
                jobs += own
                owners += own.map { _ in first.node }
                isCut = isCut || own.count == usualLimit
            } catch let error as NodeSilence {
                silent.append(error)
            }
        }
        if context.json {
            for (node, job) in zip(owners, jobs) { try context.output.object(OfNode(node: node, value: job)) }
        } else {
            try print(jobs, of: owners, context)
            if isCut, !context.invocation.has(.limit) {
                try context.output.line(Text("the newest \(usualLimit) of each machine; --limit N shows more", .faint))
            }
        }
        return try context.report(silent)
    }

    /// The jobs of `page`, preceded by the jobs of earlier pages, at most `limit` jobs in all.
    private static func rest(
        behind page: [Control.Job], of node: String, _ call: Call.List, _ limit: Int, _ context: Context
    ) throws -> [Control.Job] {
        var (jobs, latest, call) = (page, page, call)
        while jobs.count < limit, let first = latest.first {
            call.before = first.id
            call.limit = min(limit - jobs.count, Self.page)
            latest = try ChosenNodes.these([node]).ask(call, context).first?.answer.get().jobs ?? []
            jobs = latest + jobs
        }
        return jobs
    }

    private static let shorthands: [(option: Option, state: String)] = [
        (.waiting, "waiting"), (.queued, "queued"), (.running, "running"), (.done, "done"), (.failed, "failed"),
        (.cancelled, "cancelled"),
    ]

    fileprivate static let states = ["waiting", "queued", "running", "cancelling", "done", "failed", "cancelled"]

    /// Parses a comma-separated list of states. `complaint` returns the error message for an unknown state.
    static func states(
        _ list: String, among known: [String], complaint: (String) -> String
    ) throws(Failure) -> [String] {
        let words = list.split(separator: ",").map(String.init)
        if let word = words.first(where: { !known.contains($0) }) {
            throw .usage(
                "\(complaint(word))\(didYouMean(word, among: known))\nthe states are \(known.joined(separator: ", "))")
        }
        return words
    }
}

extension Table {
    /// The table has a column of batches if any job has a batch, and a column of nodes if `nodes` is not empty.
    fileprivate init(_ jobs: [Control.Job], of nodes: [String], aLineForEachResult: Bool) {
        let hasBatches = jobs.contains { $0.batch != nil }
        self.init(
            (nodes.isEmpty ? [] : [.init(title: "NODE", fit: .name)])
                + [.init(title: "ID", right: true), .init(title: "STATE"), .init(title: "RECIPE", spare: 2)]
                + (hasBatches ? [.init(title: "BATCH", right: true, spare: 1)] : [])
                + [
                    .init(title: "CREATED", spare: 3), .init(title: "INPUT", fit: .name),
                    .init(title: "OUTCOME", fit: .words),
                ], mostLines: 4)
        for (index, job) in jobs.enumerated() {
            let node: [Text] = nodes.isEmpty ? [] : [.name(nodes[index])]
            let batch = hasBatches ? [Text(job.batch.map(String.init) ?? "")] : []
            let outcomes = aLineForEachResult ? job.outcomes : [job.outcome]
            add(
                node + ["\(job.id)", job.stateText, Text(job.recipe)] + batch
                    + [Text(Moment.local(job.created), .faint), .name(job.name), outcomes.first ?? Text()])
            for outcome in outcomes.dropFirst() { add(columns.dropLast().map { _ in Text() } + [outcome]) }
        }
    }

    /// A line for each result; a job without results has a line with the reason.
    fileprivate init(picturesOf jobs: [Control.Job], of nodes: [String]) {
        self.init(
            (nodes.isEmpty ? [] : [.init(title: "NODE", fit: .name)]) + [
                .init(title: "NAME", fit: .name), .init(title: "BEFORE", right: true, spare: 2),
                .init(title: "AFTER", right: true),
                .init(title: "BYTES", right: true, spare: 1), .init(title: "", right: true, spare: 1),
                .init(title: "MS", right: true, spare: 3),
                .init(title: "RESULT", fit: .words),
            ], mostLines: 4)
        for (index, job) in jobs.enumerated() {
            let node: [Text] = nodes.isEmpty ? [] : [.name(nodes[index])]
            let before = job.before.map(\.dimensions) ?? ""
            guard !job.after.isEmpty else {
                add(node + [.name(job.name), Text(before), job.stateText, "", "", "", job.outcome])
                continue
            }
            for (result, path) in zip(job.after, job.outputs) {
                add(
                    node + [
                        .name(job.name), Text(before), Text(result.dimensions),
                        Text(job.before.map { "\($0.bytes)" } ?? ""), Text("→ \(result.bytes)"),
                        Text(job.milliseconds.map { "\(Int(nearest: $0))" } ?? ""),
                        .name(String(path.split(separator: "/").last ?? "")),
                    ])
            }
        }
    }
}
