import PipelineControl

/// The jobs of each node, asked of all that have been heard of lately and have this node's version.
struct FleetTotals: Encodable {
    private let fleet: Control.Fleet
    let version: String
    private(set) var jobs: [String: Control.Jobs]
    private(set) var silent: [NodeSilence] = []

    init(_ fleet: Control.Fleet, _ status: Control.Overview, _ context: Context) throws {
        (self.fleet, version) = (fleet, status.version)
        jobs = [fleet.name: status.jobs]
        let others = fleet.nodes.filter { $0.version == status.version }.map(\.name)
        guard !others.isEmpty else { return }
        for answer in try ChosenNodes.these(others).ask(Call.Status(), context) {
            switch answer.answer {
            case .success(let reply): jobs[answer.node] = reply.status.jobs
            case .failure(let silence): silent.append(silence)
            }
        }
    }

    var sum: Control.Jobs {
        jobs.values.reduce(into: Control.Jobs()) { sum, jobs in
            sum.waiting += jobs.waiting
            sum.queued += jobs.queued
            sum.running += jobs.running
            sum.cancelling += jobs.cancelling
            sum.done += jobs.done
            sum.failed += jobs.failed
            sum.cancelled += jobs.cancelled
            sum.ignored += jobs.ignored
        }
    }

    private enum Key: CodingKey { case jobs, sum }

    func encode(to encoder: any Encoder) throws {
        try fleet.encode(to: encoder)
        var fields = encoder.container(keyedBy: Key.self)
        try fields.encode(jobs, forKey: .jobs)
        try fields.encode(sum, forKey: .sum)
    }
}
