import PipelineControl

extension PlainPage {
    /// The lines about the fleet: this node, its server, and a table row for each node. The fleet's problem is left
    /// out, because the page's status already shows it.
    static func fleet(_ fleet: Control.Fleet) -> [String] {
        let place = fleet.server.map { " at \(escaped($0))" } ?? ", <strong>not connected</strong>"
        let own = (fleet.name, line(fleet.name, fleet.taken, of: fleet.places, fleet.lent, "this node"))
        let others = fleet.nodes.map { node in
            let lacks = node.lacks.isEmpty ? "" : "lacks \(node.lacks.joined(separator: ", "))"
            return (node.name, line(node.name, node.taken, of: node.places, node.lent, lacks))
        }
        let silent = fleet.silent.map { ($0, "<tr><td>\(escaped($0))<td><td><td>silent</tr>") }
        let lines = [own] + (others + silent).sorted { $0.0 < $1.0 }
        return ["<p>Fleet: \(escaped(fleet.name))\(place).</p>", head] + lines.map(\.1) + ["</table>"]
    }

    private static let head =
        "<table><caption>Nodes of the fleet</caption><tr><th>Node<th>Taken<th>Lent<th>Remarks</tr>"

    private static func line(_ name: String, _ taken: Int, of places: Int, _ lent: Int, _ words: String) -> String {
        "<tr><td>\(escaped(name))<td>\(taken) of \(places)<td>\(lent)<td>\(escaped(words))</tr>"
    }
}
