import PipelineModel
package import WorkerProtocol

/// The fleet, seen from this node.
package struct FleetState: Sendable {
    /// The server in use; nil while there is none.
    package var server: String?
    /// Why there is none, or why it is not used, and what to do.
    package var problem: String?
    private var heard: [String: FleetNode] = [:]
    /// Those of them that have not been heard of lately.
    private var silentOnes: Set<String> = []

    package mutating func hear(_ node: FleetNode, isSilent: Bool) {
        heard[node.name] = node
        if isSilent { silentOnes.insert(node.name) } else { silentOnes.remove(node.name) }
    }

    package mutating func forget(_ name: String) {
        heard[name] = nil
        silentOnes.remove(name)
    }

    /// The names of those that have been heard of lately. Without a server nobody is.
    package var present: Set<String> { server == nil ? [] : Set(heard.keys).subtracting(silentOnes) }

    /// The same nodes, by name.
    package var nodes: [FleetNode] { present.sorted().compactMap { heard[$0] } }

    /// The names of those that were there.
    package var silent: [String] { Set(heard.keys).subtracting(present).sorted() }

    /// So many pictures may be out. One waits for the next place of each node that takes any.
    var room: Int {
        let places = present.compactMap { heard[$0]?.places }.filter { $0 > 0 }
        return min(places.reduce(places.count, +), QueueLimit.range.upperBound)
    }

    package func has(_ matches: (FleetNode) -> Bool) -> Bool {
        server != nil && heard.values.contains { !silentOnes.contains($0.name) && matches($0) }
    }
}
