/// A condition on pictures: `rating >= 3 and (orientation = portrait or keyword = print)`.
public struct Condition: Sendable, Hashable {
    public struct Verdict: Sendable, Hashable {
        public var isMet: Bool
        /// The reason: `rating 2 is below 3`.
        public var words: String
    }

    indirect enum Term: Hashable, Sendable {
        case comparison(Comparison)
        case not(Term)
        case all([Term])
        case any([Term])
    }

    public let text: String
    private let term: Term

    public init(_ text: String) throws(Refusal) {
        self.text = text.trimmed
        term = try ConditionScanner.term(of: text)
    }

    private init(text: String, term: Term) { (self.text, self.term) = (text, term) }

    /// A condition that is met if this condition and `other` are both met.
    func and(_ other: Condition) -> Condition {
        Condition(text: "(\(text)) and (\(other.text))", term: .all([term, other.term]))
    }

    public func verdict(_ facts: PictureFacts, _ place: PicturePlace) -> Verdict { Self.verdict(term, facts, place) }

    private static func verdict(_ term: Term, _ facts: PictureFacts, _ place: PicturePlace) -> Verdict {
        switch term {
        case .comparison(let comparison): return comparison.verdict(facts, place)
        case .not(let term):
            var verdict = verdict(term, facts, place)
            verdict.isMet.toggle()
            return verdict
        case .all(let terms): return combined(terms, facts, place, decisive: false)
        case .any(let terms): return combined(terms, facts, place, decisive: true)
        }
    }

    /// Returns the first verdict whose `isMet` is `decisive`. If there is no such verdict, `isMet` of the result is the
    /// opposite of `decisive`, and the result has the reasons of all verdicts.
    private static func combined(
        _ terms: [Term], _ facts: PictureFacts, _ place: PicturePlace, decisive: Bool
    ) -> Verdict {
        var words: [String] = []
        for term in terms {
            let verdict = verdict(term, facts, place)
            if verdict.isMet == decisive { return verdict }
            words.append(verdict.words)
        }
        return Verdict(isMet: !decisive, words: words.joined(separator: ", and "))
    }
}

/// A condition is stored as its text.
extension Condition: Codable {
    public init(from decoder: any Decoder) throws {
        try self.init(decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

extension SettingType<Condition?> {
    static let condition = Self(values: "a condition, as rating >= 3 and orientation = portrait") {
        text, _ throws(Refusal) in
        text.isEmpty ? nil : try Condition(text)
    } write: {
        $0?.text ?? ""
    }
}
