/// Where an operation stands in its queue: the higher priority first, then the lower position. Equals begin in the order in which they
/// came.
struct QueuePlace: Sendable, Comparable {
    var priority = 0
    var position = 0

    static func < (one: QueuePlace, other: QueuePlace) -> Bool {
        (other.priority, one.position) < (one.priority, other.position)
    }
}
