import JobModel
import PipelineModel
import SystemCalls
import TestTools
import Testing

@testable import JobLedger

@Suite("The choice of jobs")
struct ChoiceTests {
    /// Returns jobs in all states, with various batches, recipes, folders and filters. Some jobs have a URL, and half
    /// of these have not been downloaded yet.
    private static func jobs() throws -> [JobRecord] {
        let resize = RecipeOutput(
            name: nil, chain: try Chain(parsing: "resize scale=0.5", catalog: StageCatalog(filters: [])))
        return (1...36).map { id in
            var job = job(id, [JobState.queued, .waiting, .running, .done][id % 4])
            job.batch = [nil, 1, 2][id % 3]
            job.order.recipe = id % 5 == 0 ? "other" : "r"
            if id % 7 == 0 { (job.order.inbox, job.order.outbox) = ("/out", "/elsewhere") }
            if id % 2 == 0 { job.order.outputs = [resize] }
            if id % 6 < 2 { job.url = "https://example.org/\(id).jpg" }
            if id % 6 == 0 { job.file = .none }
            return job
        }
    }

    @Test("a choice selects the same jobs in the ledger's statements and in the window")
    func choices() throws {
        let jobs = try Self.jobs()
        var choices = [JobChoice(), JobChoice(ids: [3, 4, 5]), JobChoice(ids: [])]
        for batch in [nil, 1, 9] {
            for recipe in [nil, "r", "gone"] {
                for states in [nil, [JobState.waiting], [.queued, .running], []] {
                    for held in [[], [FirstQueue.download], FirstQueue.allCases] {
                        choices.append(JobChoice(batch: batch, recipe: recipe, states: states, stoppedQueues: held))
                    }
                }
            }
        }
        try withRows(of: jobs) { database in
            for choice in choices {
                let chosen: [Int] = try database.column("SELECT id FROM jobs WHERE \(choice.condition) ORDER BY id")
                #expect(chosen == jobs.filter(choice.speaks).map(\.id), "\(choice)")
            }
        }
    }

    @Test("a job's row and its record yield the same needs and the same first queue")
    func needs() throws {
        let jobs = try Self.jobs()
        try withRows(of: jobs) { database in
            let resources: [Resource] = [
                .place("/in"), .place("/out"), .place("/elsewhere"), .place("/"), .filter("resize"), .filter("noir"),
                .spool("/spool"),
            ]
            for resource in resources {
                let needing: [Int] = try database.column(
                    "SELECT id FROM jobs WHERE \(Ledger.needing(resource)) ORDER BY id")
                #expect(needing == jobs.filter { $0.needs(resource) }.map(\.id), "\(resource)")
            }
            for queue in FirstQueue.allCases {
                let rows: [Int] = try database.column("SELECT id FROM jobs WHERE \(queue.condition) ORDER BY id")
                #expect(rows == jobs.filter { $0.entry == queue }.map(\.id) && !rows.isEmpty)
            }
        }
    }

    private func withRows(of jobs: [JobRecord], _ body: (Database) throws -> Void) throws {
        try withTemporaryFolder { folder in
            let path = "\(folder)/ledger.sqlite"
            let ledger = try Ledger(path: path)
            ledger.insert(jobs)
            #expect(ledger.flush(seconds: 30))
            try body(try Database(path: path))
        }
    }
}
