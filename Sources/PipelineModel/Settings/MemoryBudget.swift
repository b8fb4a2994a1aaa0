/// The memory limit for all pictures that are rendered at once: a size, or a share of the service's memory.
public enum MemoryBudget: Sendable, Hashable, LosslessStringConvertible {
    case share(percent: Int)
    case bytes(Int64)

    static let sizes: ClosedRange<Int64> = (64 << 20)...(1 << 50)

    /// Parses `75%` or `4G`; nil for anything else.
    public init?(_ text: String) {
        if text.hasSuffix("%") {
            guard let percent = Int(text.dropLast()) else { return nil }
            self = .share(percent: percent)
        } else if let bytes = Magnitude.bytes.number(text) {
            self = .bytes(bytes)
        } else {
            return nil
        }
    }

    public var description: String {
        switch self {
        case .share(let percent): "\(percent)%"
        case .bytes(let bytes): Magnitude.bytes.text(bytes)
        }
    }

    /// The budget in bytes, for a service that may use `usable` bytes of memory.
    public func bytes(of usable: Int64) -> Int64 {
        switch self {
        case .share(let percent): usable / 100 * Int64(percent)
        case .bytes(let bytes): bytes
        }
    }

    fileprivate var isAllowed: Bool {
        switch self {
        case .share(let percent): (1...100).contains(percent)
        case .bytes(let bytes): Self.sizes.contains(bytes)
        }
    }
}

extension SettingType<MemoryBudget> {
    private static let allowed = "1% to 100%, or \(Magnitude.bytes.text(MemoryBudget.sizes.lowerBound)) and more"

    static let memory = Self(values: allowed) { text, _ throws(Refusal) in
        guard let budget = MemoryBudget(text) else {
            throw Refusal("is not an amount of memory", advice: "write it like 75% or 4G")
        }
        guard budget.isAllowed else {
            throw Refusal.outOfRange(allowed)
        }
        return budget
    } write: {
        $0.description
    }
}
