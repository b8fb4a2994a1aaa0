import PipelineModel
package import WorkerProtocol

/// The fleet as this node sees it.
package struct FleetState: Sendable {
    /// The server in use, if any.
    package var server: String?
    /// Why no server is in use, and what to do about it.
    package var problem: String?
    private var heard: [String: FleetNode] = [:]
    /// Nodes that have not reported recently.
    private var silentOnes: Set<String> = []

    package mutating func hear(_ node: FleetNode, isSilent: Bool) {
        heard[node.name] = node
        if isSilent { silentOnes.insert(node.name) } else { silentOnes.remove(node.name) }
    }

    package mutating func forget(_ name: String) {
        heard[name] = nil
        silentOnes.remove(name)
    }

    /// Names of nodes that have reported recently; empty without a server.
    package var present: Set<String> { server == nil ? [] : Set(heard.keys).subtracting(silentOnes) }

    /// The present nodes, sorted by name.
    package var nodes: [FleetNode] { present.sorted().compactMap { heard[$0] } }

    /// Names of known nodes that are not present.
    package var silent: [String] { Set(heard.keys).subtracting(present).sorted() }

    /// Maximum pictures lent at once: all slots of the nodes, and one more per node, to wait for its next free slot.
    var room: Int {
        let places = present.compactMap { heard[$0]?.places }.filter { $0 > 0 }
        return min(places.reduce(places.count, +), QueueLimit.range.upperBound)
    }

    package func has(_ matches: (FleetNode) -> Bool) -> Bool {
        server != nil && heard.values.contains { !silentOnes.contains($0.name) && matches($0) }
    }
}
