import PipelineModel
package import WorkerProtocol

/// The fleet as this node sees it.
package struct FleetState: Sendable {
    /// The NATS server to which this node is connected, if any.
    package var server: String?
    /// Why this node is not connected, and what to do about it.
    package var problem: String?
    private var heard: [String: FleetNode] = [:]
    /// Names of nodes that have not reported recently.
    private var silentOnes: Set<String> = []

    package mutating func hear(_ node: FleetNode, isSilent: Bool) {
        heard[node.name] = node
        if isSilent { silentOnes.insert(node.name) } else { silentOnes.remove(node.name) }
    }

    package mutating func forget(_ name: String) {
        heard[name] = nil
        silentOnes.remove(name)
    }

    /// Names of nodes that have reported recently; empty while this node is not connected.
    package var present: Set<String> { server == nil ? [] : Set(heard.keys).subtracting(silentOnes) }

    /// The present nodes, sorted by name.
    package var nodes: [FleetNode] { present.sorted().compactMap { heard[$0] } }

    /// Names of known nodes that are not present.
    package var silent: [String] { Set(heard.keys).subtracting(present).sorted() }

    /// Maximum number of pictures to lend at once: one for each slot of the present nodes, and one more for each
    /// node with a slot, to wait there for the next free slot.
    var room: Int {
        let places = present.compactMap { heard[$0]?.places }.filter { $0 > 0 }
        return min(places.reduce(places.count, +), QueueLimit.range.upperBound)
    }

    package func has(_ matches: (FleetNode) -> Bool) -> Bool {
        server != nil && heard.values.contains { !silentOnes.contains($0.name) && matches($0) }
    }
}
