import PipelineControl

extension Control.Fleet {
    /// This node: `fleet: darkroom at tls://fleet.example.org:4222 · 3 other nodes · lent 4 · taken 0 of 2`.
    var head: Text {
        let place = server.map { " at \($0)" } ?? ""
        let others = Amount.counted(nodes.count, "other node")
        let words = "\(name)\(place) · \(others) · lent \(lent) · taken \(taken) of \(places)"
        return server == nil ? "fleet: \(words) · \("not connected", .halted)" : "fleet: \(words)"
    }

    /// A line for each node, this node first, and a total if other nodes have answered.
    func lines(_ totals: FleetTotals, width: Int?) -> [Text] {
        var table = Table([
            .init(title: "NODE", fit: .name), .init(title: "VERSION", spare: 1), .init(title: "PLACES", right: true),
            .init(title: "TAKEN", right: true), .init(title: "LENT", right: true),
            .init(title: "WAITING", right: true), .init(title: "RUNNING", right: true),
            .init(title: "DONE", right: true), .init(title: "FAILED", right: true), .init(title: "", fit: .words),
        ])
        func add(_ cells: [Text], _ jobs: Control.Jobs?, _ words: Text) {
            let counts = jobs.map {
                [[$0.waiting, $0.queued].sum, [$0.running, $0.cancelling].sum, $0.done, $0.failed]
            }
            table.add(cells + (counts?.map { "\($0)" } ?? Array(repeating: "", count: 4)) + [words])
        }
        add([.name(name), Text(totals.version), "\(places)", "\(taken)", "\(lent)"], totals.jobs[name], "this node")
        for node in nodes {
            let lacks = node.lacks.isEmpty ? "" : Text("lacks \(node.lacks.joined(separator: ", "))", .halted)
            add(
                [.name(node.name), Text(node.version), "\(node.places)", "\(node.taken)", "\(node.lent)"],
                totals.jobs[node.name], lacks)
        }
        for name in silent { add([.name(name), "", "", "", ""], nil, Text("silent", .halted)) }
        if totals.jobs.count > 1 { add(["", "", "", "", ""], totals.sum, "in all") }
        let trouble: [Text] = problem.map { ["\("problem:", .bad) \($0)"] } ?? []
        return trouble + [head, ""] + table.lines(width: width)
    }
}
