extension Duration {
    private static let units: [(name: String, nanoseconds: Double)] = [
        ("d", 86_400e9), ("h", 3_600e9), ("min", 60e9), ("s", 1e9), ("ms", 1e6), ("us", 1e3), ("ns", 1),
    ]

    /// Parses a time in systemd's notation: `500ms`, `5s`, `10min`, `1h 30min`, `30d`; a bare number means seconds.
    public init?(text: String) {
        var rest = text[...]
        var total = 0.0
        rest.trimPrefixSpaces()
        guard !rest.isEmpty else { return nil }
        while !rest.isEmpty {
            let digits = rest.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
            rest = rest[digits.endIndex...]
            rest.trimPrefixSpaces()
            let unit = rest.prefix { $0.isLetter }
            rest = rest[unit.endIndex...]
            rest.trimPrefixSpaces()
            guard let number = Double(digits),
                let scale = unit.isEmpty ? 1e9 : Self.units.first(where: { $0.name == unit })?.nanoseconds
            else { return nil }
            total += number * scale
        }
        guard total < 9e18 else { return nil }
        self = .nanoseconds(Int64(total.rounded()))
    }

    /// The time in the form that `init(text:)` reads, in as few units as possible.
    public var text: String {
        var rest = components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000
        var words: [String] = []
        for unit in Self.units {
            let (count, remainder) = rest.quotientAndRemainder(dividingBy: Int64(unit.nanoseconds))
            if count != 0 { words.append("\(count)\(unit.name)") }
            rest = remainder
        }
        return words.isEmpty ? "0s" : words.joined(separator: " ")
    }
}

extension Substring {
    fileprivate mutating func trimPrefixSpaces() {
        self = drop { $0 == " " || $0 == "\t" }
    }
}
