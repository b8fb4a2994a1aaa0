import JobLedger
import JobModel

/// Counts the successive pictures on which a filter has crashed or hung. After many such pictures, the filter would
/// probably fail on all further pictures.
struct FilterCrashes {
    /// For each filter, the pictures on which it has crashed or hung since it last worked.
    private var pictures: [String: Set<String>] = [:]

    /// Adds a picture on which the filter has crashed or hung. Returns the number of such pictures in a row.
    mutating func add(_ filter: String, with picture: String) -> Int {
        pictures[filter, default: []].insert(picture)
        return pictures[filter]?.count ?? 0
    }

    /// Resets the counts of all filters in this work order, because a picture has passed through them.
    mutating func passed(_ order: WorkOrder) {
        guard !pictures.isEmpty else { return }
        pictures = pictures.filter { !order.outputs.uses(filter: $0.key) }
    }

    /// Gives each filter another chance, because plugins were reloaded.
    mutating func forget() { pictures = [:] }
}
