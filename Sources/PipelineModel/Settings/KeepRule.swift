/// A retention rule: keep everything, or files up to an age, a total size, or both.
public struct KeepRule: Sendable, Hashable {
    /// The daemon removes files older than this.
    public var age: Duration?
    /// If the files have more than this many bytes in total, the daemon removes the oldest.
    public var size: Int64?

    public init(age: Duration? = nil, size: Int64? = nil) { (self.age, self.size) = (age, size) }

    public var keepsEverything: Bool { age == nil && size == nil }

    static let ages = Duration.seconds(1) ... .seconds(36_500 * 86_400)
    static let sizes: ClosedRange<Int64> = 1 << 10...1 << 50
    static let advice = "write keep, an age as 90d, a size as 200G, or an age and a size"

    /// Reads `keep`, `90d`, `200G`, or `90d 200G` in any order.
    public init(_ text: String) throws(Refusal) {
        let words = text.split(whereSeparator: \.isWhitespace).map(String.init)
        if words == ["keep"] { return }
        guard !words.isEmpty, words.count <= 2 else { throw Refusal("is not a rule", advice: Self.advice) }
        for word in words {
            if let size = Self.size(word) {
                guard self.size == nil else { throw Refusal("has two sizes", advice: Self.advice) }
                self.size = size
            } else if let age = Self.age(word) {
                guard self.age == nil else { throw Refusal("has two ages", advice: Self.advice) }
                self.age = age
            } else {
                // A number without a unit is an error too, because it could be either an age or a size.
                let complaint = "neither an age nor a size"
                throw Refusal(
                    words.count == 1 ? "is \(complaint)" : "has '\(word)' in it, which is \(complaint)",
                    advice: Self.advice)
            }
        }
        if let age, !Self.ages.contains(age) { throw Refusal("has an age out of range", advice: Self.ageBounds) }
        if let size, !Self.sizes.contains(size) { throw Refusal("has a size out of range", advice: Self.sizeBounds) }
    }

    /// Parses an age: `90d`, `1h30min`.
    static func age(_ word: String) -> Duration? { word.last?.isLetter == true ? Duration(text: word) : nil }

    /// Parses a size: `200G`.
    static func size(_ word: String) -> Int64? { word.last?.isLetter == true ? Magnitude.bytes.number(word) : nil }

    /// Parses a size that may be 0.
    public static func bytes(_ text: String) throws(Refusal) -> Int64 {
        guard let bytes = Magnitude.bytes.number(text) else {
            throw Refusal("is not a size", advice: "write it like 500M or 200G")
        }
        return bytes
    }

    static let ageBounds = "it may be \(ages.lowerBound.text) to \(ages.upperBound.text)"
    static let sizeBounds =
        "it may be \(Magnitude.bytes.text(sizes.lowerBound)) to \(Magnitude.bytes.text(sizes.upperBound))"

    /// The rule in the form that `init(_:)` reads.
    public var text: String {
        let words = [age.map { $0.text.replacing(" ", with: "") }, size.map(Magnitude.bytes.text)].compactMap(\.self)
        return words.isEmpty ? "keep" : words.joined(separator: " ")
    }
}

extension SettingType<KeepRule> {
    static let rule = Self(values: "keep, an age as 90d, a size as 200G, or an age and a size") {
        text, _ throws(Refusal) in
        try KeepRule(text)
    } write: {
        $0.text
    }
}
