package import FleetSharing
package import PipelineControl
import WorkerPools
import WorkerProtocol

extension FleetMember {
    /// The fleet as clients see it; nil if this node is in no fleet.
    package var report: Control.Fleet? {
        guard isOn else { return nil }
        let state = state
        return Control.Fleet(
            name: name, server: state.server, problem: problem, places: places, taken: takenCount, lent: lentCount,
            nodes: state.nodes.map { node in
                Control.Node(
                    name: node.name, version: node.version, places: node.places, taken: node.taken, lent: node.lent,
                    lacks: lacks(of: node))
            }, silent: state.silent)
    }
}
