/// The priority of a job. Jobs with a higher priority start first; jobs of equal priority start in order of arrival.
public enum Priority: String, Sendable, Hashable, Codable, CaseIterable, Comparable {
    case low, normal, high

    /// The number stored in the ledger; higher starts first.
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
