/// Operations that share a lane limit, besides the limit of their queue. The gate admits operations from its lanes in
/// turn. A queue without lanes keeps all operations in one lane.
package struct GateLane {
    /// The name of a lane. The lanes of a group share the turns of the group.
    package struct Name: Hashable, Sendable {
        let group: String
        let member: Int
        /// The group's share of turns, relative to other groups.
        let share: Int

        package init(_ group: String = "", member: Int = 0, share: Int = 1) {
            (self.group, self.member, self.share) = (group, member, share)
        }

        package static func == (one: Name, other: Name) -> Bool {
            (one.member, one.group) == (other.member, other.group)
        }

        package func hash(into hasher: inout Hasher) {
            hasher.combine(member)
            hasher.combine(group)
        }
    }

    /// Operations that wait for admission, in order.
    private(set) var waiting: [AsyncOperation] = []
    /// Number of admitted operations that have neither finished nor been set aside.
    var running = 0
    /// The number of the gate's latest admission from this lane. The gate numbers its admissions from 1.
    var served = 0

    var isEmpty: Bool { waiting.isEmpty && running == 0 }

    /// Returns the index at which to insert an operation with this place, behind all operations with an equal place.
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

    /// Whether the gate admits from this lane before it admits from `other`. `turns` and `otherTurns` are the turns
    /// that the groups of the two lanes have received. The lane whose first operation has the higher priority precedes.
    /// If the priorities are equal, the lane whose group has received fewer turns precedes. If the turns are also
    /// equal, the lane that the gate served longer ago precedes. If the gate has served neither lane, the lane whose
    /// first operation has the lower position precedes.
    func precedes(_ other: GateLane, _ turns: Double, _ otherTurns: Double) -> Bool {
        guard let first = waiting.first?.ticket.place, let second = other.waiting.first?.ticket.place else {
            return !waiting.isEmpty
        }
        return (second.priority, turns, served, first.position)
            < (first.priority, otherTurns, other.served, second.position)
    }
}
