package import DaemonInterface
import WorkerPools
import WorkerProtocol

extension FleetMember {
    /// The fleet as this node sees it; nil if this node is not in a fleet.
    package var report: FleetReport? {
        guard isOn else { return nil }
        let state = state
        return FleetReport(
            name: name, server: state.server, problem: problem, places: places, taken: takenCount, lent: lentCount,
            nodes: state.nodes.map { ($0, lacks(of: $0)) }, silent: state.silent)
    }
}
