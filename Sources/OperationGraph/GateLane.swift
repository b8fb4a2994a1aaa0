/// Operations at a gate that share a limit beside that of the queue. Lanes take turns. A queue without lanes keeps all
/// its operations in one.
struct GateLane {
    /// Operations that may begin, in order.
    private(set) var held: [AsyncOperation] = []
    /// Operations that were let in and have not ended.
    var running = 0
    /// The turn in which an operation was last let in; the lower number is the earlier.
    var served = 0

    var isEmpty: Bool { held.isEmpty && running == 0 }

    /// The index for an operation of this place, behind its equals.
    private func index(behind place: QueuePlace) -> Int {
        var (low, high) = (0, held.count)
        while low < high {
            let middle = (low + high) / 2
            if place < held[middle].ticket.place { high = middle } else { low = middle + 1 }
        }
        return low
    }

    mutating func hold(_ operation: AsyncOperation) {
        held.insert(operation, at: index(behind: operation.ticket.place))
    }

    mutating func release(_ operation: AsyncOperation) {
        let place = operation.ticket.place
        let equals = held[..<index(behind: place)].reversed().prefix { $0.ticket.place == place }
        guard let index = equals.firstIndex(where: { $0 === operation })?.base else { return }
        held.remove(at: index - 1)
    }

    mutating func takeFirst() -> AsyncOperation { held.removeFirst() }

    /// Whether this lane's turn comes first: by priority, then by the longest time since it was served, then by
    /// position.
    func precedes(_ other: GateLane) -> Bool {
        guard let first = held.first?.ticket.place, let second = other.held.first?.ticket.place else {
            return !held.isEmpty
        }
        return (second.priority, served, first.position) < (first.priority, other.served, second.position)
    }
}
