package import DaemonRuntime
package import WorkerProtocol

/// Reaches the other nodes of the fleet.
@Coordination
package protocol FleetSteering {
    /// The fleet as this node sees it; nil if this node is in no fleet.
    var fleetReport: FleetReport? { get }
    /// Sends a command to nodes, which may include this node. Calls `done` after every node has an outcome.
    func command(
        _ nodes: [String], _ command: NodeCommand, by peer: String,
        done: @escaping @Coordination @Sendable ([(node: String, outcome: NodeOutcome)]) -> Void)
    /// Checks nodes by lending a test picture to each of them.
    func check(_ nodes: [String], done: @escaping @Coordination ([String: NodeCheckOutcome]) -> Void) -> Withdrawal
}

package struct FleetReport: Sendable {
    /// Another node. `lacks` names the release, the filters and the filters' files that this node's pictures need and
    /// that the other node lacks.
    package typealias Node = (node: FleetNode, lacks: [String])

    /// This node's name.
    package var name: String
    package var server: String?
    package var problem: String?
    package var places: Int
    package var taken: Int
    package var lent: Int
    /// The other nodes that have reported recently.
    package var nodes: [Node]
    /// Names of known nodes that have not reported recently.
    package var silent: [String]

    package init(
        name: String, server: String?, problem: String?, places: Int, taken: Int, lent: Int, nodes: [Node],
        silent: [String]
    ) {
        (self.name, self.server, self.problem, self.places) = (name, server, problem, places)
        (self.taken, self.lent, self.nodes, self.silent) = (taken, lent, nodes, silent)
    }

    /// Names of this node and of all known nodes.
    package var everybody: [String] { ([name] + nodes.map(\.node.name) + silent).sorted() }
}

/// A node's answer to a command.
package enum NodeOutcome: Sendable {
    case done(NodeReport)
    case refused(CommandRefusal)
    case silent
}

package enum NodeCheckOutcome: Sendable {
    /// Times from the start of the check to the node's acceptance, and to the arrival of the result.
    case ok(accepted: Duration, delivered: Duration)
    case silent
    case otherVersion(String)
    case noPlace(within: Duration)
    case refused(String?)
    case noResult(within: Duration)
    case failed(String)
}
