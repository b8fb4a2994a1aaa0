import DaemonRuntime
import JobLedger
import PipelineModel

/// Counts successive pictures with which a filter has crashed or hung. Such a filter would fail all further pictures.
@Coordination
final class FilterCrashes {
    /// Pictures by filter, since the filter last worked.
    private var pictures: [String: Set<String>] = [:]

    /// Returns the number of such pictures in a row.
    func strike(_ filter: String, with picture: String) -> Int {
        pictures[filter, default: []].insert(picture)
        return pictures[filter]?.count ?? 0
    }

    /// Resets the filters of an order: a picture has passed through all of them.
    func acquit(_ order: WorkOrder) {
        guard !pictures.isEmpty else { return }
        pictures = pictures.filter { !order.outputs.uses(filter: $0.key) }
    }

    /// Gives each filter another chance, because plugins were reloaded.
    func forgive() { pictures = [:] }
}
