import Glibc
import PipelineControl

/// What there is in the daemon that a word could be; nothing when no daemon answers, for a shell is no place for complaints.
struct LiveWords {
    private static let mostJobs = 100
    private static let mostJobsOfBatches = 1000

    let address: SocketAddress

    /// The newest first.
    func jobs(_ states: [String]) -> [Candidate] {
        let jobs = ask(Call.List(states: states, limit: Self.mostJobs))?.jobs ?? []
        return jobs.reversed().map { Candidate("\($0.id)", "\($0.state) \($0.input)") }
    }

    /// Those of the newest jobs, the newest first.
    var batches: [Candidate] {
        let jobs = ask(Call.List(limit: Self.mostJobsOfBatches))?.jobs ?? []
        let byBatch = Dictionary(grouping: jobs.filter { $0.batch != nil }, by: { $0.batch ?? 0 })
        return byBatch.sorted { $0.key > $1.key }.map { batch, jobs in
            Candidate("\(batch)", "\(Amount.counted(jobs.count, "job")), \(jobs.first?.input ?? "")")
        }
    }

    var recipes: [Candidate] {
        (ask(Call.Recipes())?.recipes ?? []).map { Candidate($0.name, $0.description ?? "") }
    }

    var queues: [Candidate] {
        (ask(Call.Concurrency())?.queues ?? [:]).sorted { $0.key < $1.key }.map { name, queue in
            Candidate(name, "\(queue.running) running, \(queue.waiting) waiting")
        }
    }

    var stages: [Candidate] { described.map { Candidate($0.name, $0.summary) } }

    /// What a chain that begins so could go on with.
    func chains(_ chain: String) -> [Candidate] { ChainCompletion(chain, stages: described).candidates }

    private var described: [Control.Stage] { ask(Call.Plugins())?.stages ?? [] }

    private func ask<Request: ControlCall>(_ call: Request) -> Request.Reply? {
        try? ControlClient(path: address.path).call(call)
    }
}
