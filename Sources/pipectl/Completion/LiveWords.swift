import Glibc
import PipelineControl
import SystemCalls

/// Words that completion gets from the running daemon. If no daemon answers, there are no words, and no error is
/// reported.
struct LiveWords {
    private static let mostJobs = 100
    private static let mostBatches = 50

    let address: SocketAddress

    /// Jobs in these states, newest first.
    func jobs(_ states: [String]) -> [Candidate] {
        let jobs = ask(Call.List(states: states, limit: Self.mostJobs))?.jobs ?? []
        return jobs.reversed().map { Candidate("\($0.id)", "\($0.state) \($0.name)") }
    }

    /// Numbers of batches, newest first, followed by their distinct names.
    var batches: [Candidate] {
        let batches = (ask(Call.Batches(limit: Self.mostBatches))?.batches ?? []).reversed()
        var names: Set<String> = []
        let named = batches.filter { batch in
            // Unprintable characters would break the line that the shell reads.
            guard let name = batch.name, name == name.printable else { return false }
            return names.insert(name).inserted
        }
        return batches.map { Candidate("\($0.id)", [$0.name, $0.counts].compactMap(\.self).joined(separator: ": ")) }
            + named.map { Candidate($0.name ?? "", "batch \($0.id): \($0.counts)") }
    }

    var recipes: [Candidate] {
        (ask(Call.Recipes())?.recipes ?? []).map { Candidate($0.name, $0.description ?? "") }
    }

    var queues: [Candidate] {
        (ask(Call.Concurrency())?.queues ?? [:]).sorted { $0.key < $1.key }.map { name, queue in
            Candidate(name, "\(queue.running) running, \(queue.waiting) waiting")
        }
    }

    var nodes: [Candidate] {
        guard let fleet = ask(Call.Status())?.status.fleet else { return [] }
        return [Candidate(fleet.name, "this machine")]
            + fleet.nodes.map { Candidate($0.name, "\(Amount.counted($0.places, "place")), \($0.taken) taken") }
            + fleet.silent.map { Candidate($0, "silent") }
    }

    var stages: [Candidate] { described.map { Candidate($0.name, $0.summary) } }

    func chains(_ chain: String) -> [Candidate] { ChainCompletion(chain, stages: described).candidates }

    private var described: [Control.Stage] { ask(Call.Plugins())?.stages ?? [] }

    private func ask<Request: ControlCall>(_ call: Request) -> Request.Reply? {
        try? ControlClient(path: address.path).call(call)
    }
}
