/// Operations at a gate that share a limit of their own, beside that of the queue. Lanes take turns. A queue without
/// lanes keeps all operations in one lane.
struct GateLane {
    /// Operations that wait for their turn, in order.
    private(set) var waiting: [AsyncOperation] = []
    /// Operations that were let in and have not ended.
    var running = 0
    /// The turn in which the lane was last served; a lower number is earlier.
    var served = 0

    var isEmpty: Bool { waiting.isEmpty && running == 0 }

    /// The index at which to insert an operation of this place: behind its equals.
    private func index(behind place: QueuePlace) -> Int {
        var (low, high) = (0, waiting.count)
        while low < high {
            let middle = (low + high) / 2
            if place < waiting[middle].ticket.place { high = middle } else { low = middle + 1 }
        }
        return low
    }

    mutating func add(_ operation: AsyncOperation) {
        waiting.insert(operation, at: index(behind: operation.ticket.place))
    }

    mutating func remove(_ operation: AsyncOperation) {
        let place = operation.ticket.place
        let equals = waiting[..<index(behind: place)].reversed().prefix { $0.ticket.place == place }
        guard let index = equals.firstIndex(where: { $0 === operation })?.base else { return }
        waiting.remove(at: index - 1)
    }

    mutating func takeFirst() -> AsyncOperation { waiting.removeFirst() }

    /// Whether this lane's turn comes first: by priority, then by the longest time since it was served, then by
    /// position.
    func precedes(_ other: GateLane) -> Bool {
        guard let first = waiting.first?.ticket.place, let second = other.waiting.first?.ticket.place else {
            return !waiting.isEmpty
        }
        return (second.priority, served, first.position) < (first.priority, other.served, second.position)
    }
}
