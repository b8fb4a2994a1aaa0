/// Jobs of a higher priority begin first. Within a priority jobs keep the order of their arrival.
public enum Priority: String, Sendable, Hashable, Codable, CaseIterable, Comparable {
    case low, normal, high

    /// The number in the ledger: the higher goes first.
    public var rank: Int {
        switch self {
        case .low: -1
        case .normal: 0
        case .high: 1
        }
    }

    public init(rank: Int) {
        self = rank < 0 ? .low : rank > 0 ? .high : .normal
    }

    public static func < (one: Priority, other: Priority) -> Bool { one.rank < other.rank }
}
