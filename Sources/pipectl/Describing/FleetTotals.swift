import PipelineControl

/// Job counts by node, requested from all nodes that were seen recently and run this node's version.
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
        func sum(_ count: (Control.Jobs) -> Int) -> Int { jobs.values.map(count).sum }
        return Control.Jobs(
            waiting: sum(\.waiting), queued: sum(\.queued), running: sum(\.running), cancelling: sum(\.cancelling),
            done: sum(\.done), failed: sum(\.failed), cancelled: sum(\.cancelled), ignored: sum(\.ignored))
    }

    private enum Key: CodingKey { case jobs, sum }

    func encode(to encoder: any Encoder) throws {
        try fleet.encode(to: encoder)
        var fields = encoder.container(keyedBy: Key.self)
        try fields.encode(jobs, forKey: .jobs)
        try fields.encode(sum, forKey: .sum)
    }
}
