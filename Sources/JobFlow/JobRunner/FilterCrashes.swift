import JobLedger
import PipelineModel

/// Counts successive pictures with which a filter has crashed or hung. Such a filter would fail all further pictures.
struct FilterCrashes {
    /// Pictures by filter, since the filter last worked.
    private var pictures: [String: Set<String>] = [:]

    /// Returns the number of such pictures in a row.
    mutating func add(_ filter: String, with picture: String) -> Int {
        pictures[filter, default: []].insert(picture)
        return pictures[filter]?.count ?? 0
    }

    /// A picture has passed through all filters of an order.
    mutating func passed(_ order: WorkOrder) {
        guard !pictures.isEmpty else { return }
        pictures = pictures.filter { !order.outputs.uses(filter: $0.key) }
    }

    /// Gives each filter another chance, because plugins were reloaded.
    mutating func forget() { pictures = [:] }
}
