import PipelineControl

extension Control.Fleet {
    /// This node: `fleet: darkroom at tls://fleet.example.org:4222 · 3 nodes · lent 4 · taken 0 of 2`.
    var head: Text {
        let place = server.map { " at \($0)" } ?? ""
        let others = Amount.counted(nodes.count, "other node")
        let words = "\(name)\(place) · \(others) · lent \(lent) · taken \(taken) of \(places)"
        return server == nil ? "fleet: \(words) · \("not connected", .halted)" : "fleet: \(words)"
    }

    func lines(width: Int?) -> [Text] {
        var table = Table([
            .init(title: "NODE", fit: .name), .init(title: "VERSION"), .init(title: "PLACES", right: true),
            .init(title: "TAKEN", right: true), .init(title: "LENT", right: true), .init(title: "", fit: .words),
        ])
        for node in nodes {
            table.add(
                .name(node.name), Text(node.version), "\(node.places)", "\(node.taken)", "\(node.lent)",
                node.lacks.isEmpty ? "" : Text("lacks \(node.lacks.joined(separator: ", "))", .halted))
        }
        for name in silent { table.add(.name(name), "", "", "", "", Text("silent", .halted)) }
        let trouble: [Text] = problem.map { ["\("problem:", .bad) \($0)"] } ?? []
        return trouble + head.folded(to: width ?? .max) + (table.isEmpty ? [] : [""] + table.lines(width: width))
    }
}
