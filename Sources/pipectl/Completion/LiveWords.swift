import Glibc
import PipelineControl

/// Words from the running daemon; none when no daemon answers, because a missing daemon is not an error here.
struct LiveWords {
    private static let mostJobs = 100
    /// No answer has more jobs.
    private static let mostEnded = 500

    let address: SocketAddress

    /// The jobs, the newest first.
    func jobs(_ states: [String]) -> [Candidate] {
        let jobs = ask(Call.List(states: states, limit: Self.mostJobs))?.jobs ?? []
        return jobs.reversed().map { Candidate("\($0.id)", "\($0.state) \($0.name)") }
    }

    /// The batches in work, the newest first, and then the batches of the latest jobs.
    var batches: [Candidate] {
        let inWork = (ask(Call.Progress())?.batches ?? []).map(\.batch)
        let latest = (ask(Call.List(limit: Self.mostEnded))?.jobs ?? []).reversed()
        var candidates = inWork.sorted { $0.id > $1.id }.map {
            Candidate("\($0.id)", [$0.name, $0.counts].compactMap(\.self).joined(separator: ": "))
        }
        for job in latest {
            guard let batch = job.batch, !candidates.contains(where: { $0.word == "\(batch)" }) else { continue }
            candidates.append(Candidate("\(batch)", "ended with \(job.name)"))
        }
        return candidates
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

    func chains(_ chain: String) -> [Candidate] { ChainCompletion(chain, stages: described).candidates }

    private var described: [Control.Stage] { ask(Call.Plugins())?.stages ?? [] }

    private func ask<Request: ControlCall>(_ call: Request) -> Request.Reply? {
        try? ControlClient(path: address.path).call(call)
    }
}
