/// A version of the engine's server. Older ones of each series have known flaws.
struct ServerVersion: Comparable, CustomStringConvertible {
    let numbers: [Int]

    /// The first good one of each series; a later series is good from its start.
    private static let good = ["2.11.16", "2.12.7", "2.14.0"].compactMap(ServerVersion.init)

    init?(_ text: String) {
        let words = text.prefix(40).prefix { $0.isASCII && ($0.isNumber || $0 == ".") }.split(separator: ".")
        numbers = words.prefix(3).compactMap { Int($0) }
        guard numbers.count == 3 else { return nil }
    }

    var description: String { numbers.map(String.init).joined(separator: ".") }

    /// The version that is needed instead; nil for a good one.
    var needed: ServerVersion? {
        if let last = Self.good.last, self >= last { return nil }
        let ofSeries = Self.good.first { $0.numbers.prefix(2) == numbers.prefix(2) } ?? Self.good.last
        return ofSeries.flatMap { self < $0 ? $0 : nil }
    }

    static func < (one: ServerVersion, other: ServerVersion) -> Bool {
        one.numbers.lexicographicallyPrecedes(other.numbers)
    }
}
