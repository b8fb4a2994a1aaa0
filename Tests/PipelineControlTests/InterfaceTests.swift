import PipelineControl
import Testing

/// Compares the interface description that Varlink clients read with the JSON that the generated Swift types write.
struct InterfaceTests {
    private let described = InterfaceDescription(ControlInterface.control.description)

    @Test("The descriptions equal the texts, with the limits as numbers", arguments: ControlInterface.all)
    func limits(interface: ControlInterface) {
        #expect(interface.description.contains("\ninterface \(interface.name)\n"))
        #expect(!interface.description.contains("\\("))
        let isOurs = interface.name == ControlInterface.control.name
        #expect(isOurs == interface.description.contains("at most \(ControlInterface.mostIDs) IDs"))
    }

    private func check(_ value: some Encodable, is type: String) throws {
        #expect(described.mismatches(try wireObject(value), type, at: type) == [])
    }

    @Test("Every type writes exactly the described fields")
    func types() throws {
        try check(Sample.jobs(), is: "Jobs")
        try check(Sample.queues["render"], is: "Queue")
        try check(Sample.inbox, is: "Inbox")
        try check(Sample.status(inboxes: [Sample.inbox]), is: "Overview")
        try check(Sample.job(1), is: "Job")
        try check(Sample.operation, is: "Operation")
        try check(Sample.story, is: "Story")
        try check(Sample.event(3, Sample.job(1)), is: "Event")
        try check(Sample.batch, is: "Batch")
        try check(Sample.progress, is: "Progress")
        try check(Sample.progress(running: 1, of: 2).jobs[0], is: "JobProgress")
        try check(Control.BatchProgress(batch: Sample.batch, progress: Sample.progress), is: "BatchProgress")
        try check(Sample.explanation, is: "Explanation")
        try check(Sample.recipe, is: "Recipe")
        try check(Sample.proof, is: "Proof")
        try check(Sample.stage, is: "Stage")
        try check(Sample.skipped, is: "SkippedPlugin")
        try check(Sample.setting, is: "Setting")
        try check(Sample.metrics[2], is: "Metric")
        try check(Sample.problem, is: "Problem")
    }

    private func check<C: ControlCall>(_ call: C, _ reply: C.Reply) throws {
        let name = String(C.method.dropFirst(ControlInterface.control.name.count + 1))
        let method = try #require(described.methods[name], "\(C.method) is not described")
        #expect(described.mismatches(try wireObject(call), method.parameters, at: C.method) == [])
        #expect(described.mismatches(try wireObject(reply), method.reply, at: C.method) == [])
    }

    @Test("Every call and every reply has exactly the described parameters")
    func calls() throws {
        try check(Call.Status(), .init(status: Sample.status()))
        try check(Call.List(states: ["done"], before: 7), .init(jobs: [Sample.job(1)]))
        try check(Call.ListIDs(states: ["done"], batch: 3), .init(ranges: [Control.IDRange(first: 1, last: 7)]))
        try check(Call.NewFile(bytes: 3), .init())
        try check(Call.WhyWaiting(ids: [1]), .init(waiting: Sample.status().waiting))
        try check(Call.ListIgnored(recipe: "noir", after: "/srv"), .init(ignored: Sample.status().ignored))
        try check(Call.Open(id: 1, result: 2, width: 320), .init(name: "a.jpg", bytes: 3))
        try check(Call.Show(id: 1), .init(story: Sample.story))
        try check(Call.Explain(file: "a"), .init(explanation: Sample.explanation))
        try check(
            Call.Add(name: "a", after: [1], anyway: true, priority: "high", folder: "b"), .init(job: Sample.job(1)))
        try check(
            Call.Try(name: "a.jpg", recipes: ["web"], chains: ["noir"], sheet: "png"),
            .init(before: Sample.proof.picture, proofs: [Sample.proof], sheet: Sample.proof.picture))
        try check(Call.NewBatch(name: "lucerne"), .init(batch: 1))
        try check(Call.Batches(name: "lucerne", limit: 3), .init(batches: [Sample.batch]))
        try check(Call.FindBatch(batch: "lucerne"), .init(batch: Sample.batch, others: 2))
        try check(Call.CloseBatch(batch: 1), .init())
        try check(Call.Sift(names: ["a.txt"], recipe: "noir"), .init(ignored: Sample.status().ignored))
        try check(Call.Wait(ids: [], batch: 1), .init(jobs: [Sample.job(1)], waitsFor: "a disk"))
        try check(Call.Watch(cursor: 1), .init(events: [Sample.event(1, Sample.job(1))]))
        try check(Call.Progress(batch: 1), Sample.progress(running: 1, of: 2))
        try check(
            Call.AddList(name: "a.urls", after: [1], anyway: true, priority: "low"), .init(batch: 1, first: 2, last: 9))
        try check(
            Call.AddUrls(urls: ["https://a.org/b"], after: [1], anyway: true, priority: "low"),
            .init(batch: 1, first: 2, last: 9))
        try check(Call.Log(id: 1), .init(events: [Sample.event(1, Sample.job(1))]))
        try check(Call.Cancel(ids: [1]), .init(jobs: [Sample.job(1)]))
        try check(Call.CancelAll(), .init(cancelled: 1))
        try check(Call.CancelMatching(batch: 1, states: ["queued"]), .init(cancelled: 1))
        try check(Call.Depend(id: 1, after: [2]), .init(job: Sample.job(1)))
        try check(Call.Prioritise(ids: [1], priority: "high"), .init(changed: 1))
        try check(Call.Retry(ids: [], states: [], batch: 1), .init(retried: [1]))
        try check(Call.Pause(queue: "render"), .init(queues: Sample.queues))
        try check(Call.Resume(), .init(queues: Sample.queues))
        try check(Call.Concurrency(queue: "render", limit: "auto"), .init(queues: Sample.queues))
        try check(Call.Drain(), .init(queues: Sample.queues))
        try check(
            Call.Command(command: "pause", nodes: ["attic"], queue: "render", reason: "the printer"),
            .init(answers: [Sample.answer]))
        try check(
            Call.Ask(nodes: ["attic"], call: "Status", parameters: "{}"),
            .init(answers: [Control.NodeReply(node: "attic", answered: true, reply: "{}")]))
        try check(Call.CheckFleet(nodes: ["attic"]), .init(checks: Sample.checks))
        try check(Call.Recipes(), .init(recipes: [Sample.recipe], folder: "/etc/pipelined/recipes.d"))
        try check(Call.Plugins(), .init(stages: [Sample.stage], skipped: [Sample.skipped]))
        try check(Call.Settings(), .init(settings: [Sample.setting]))
        try check(Call.Metrics(), .init(metrics: Sample.metrics))
        try check(Call.Reload(), .init(problems: [Sample.problem], skipped: [Sample.skipped], hooks: [Sample.problem]))
    }

    @Test(
        "Every error has exactly the described parameters",
        arguments: [
            ControlError.noSuchJob(7), .noSuchQueue("rendr", queues: ["render"]), .noSuchRecipe("x", recipes: ["noir"]),
            .badChain("unknown stage", column: 24), .badValue("too much"), .refused("it is stopping"),
        ])
    func errors(error: ControlError) throws {
        let wire = error.wire
        let name = try #require(wire.name.split(separator: ".").last.map(String.init))
        let fields = try #require(described.errors[name])
        #expect(described.mismatches(try wireObject(wire.parameters), fields, at: name) == [])
    }
}
