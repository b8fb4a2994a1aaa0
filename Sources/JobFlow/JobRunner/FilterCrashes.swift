import DaemonRuntime
import JobLedger
import PipelineModel

/// Counts pictures with which a filter has crashed or hung, one after the other. The filter would fail all pictures
/// that come.
@Coordination
final class FilterCrashes {
    /// The pictures by filter, since it last did not crash or hang.
    private var pictures: [String: Set<String>] = [:]

    /// Returns how many pictures in a row it has been now.
    func strike(_ filter: String, with picture: String) -> Int {
        pictures[filter, default: []].insert(picture)
        return pictures[filter]?.count ?? 0
    }

    /// A picture has gone through all filters of its order.
    func acquit(_ order: WorkOrder) {
        guard !pictures.isEmpty else { return }
        pictures = pictures.filter { !order.outputs.uses(filter: $0.key) }
    }

    /// Plugins were loaded anew: each gets another chance.
    func forgive() { pictures = [:] }
}
