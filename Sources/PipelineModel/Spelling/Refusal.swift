/// Why a text is not a valid value: a predicate such as "is unknown", and advice. The caller adds the name of the
/// setting or parameter, and the position.
public struct Refusal: Error, Equatable {
    public var complaint: String
    public var advice: String?
    /// Position of the mistake in the text, from 1, if known.
    public var column: Int?

    init(_ complaint: String, advice: String? = nil, column: Int? = nil) {
        (self.complaint, self.advice, self.column) = (complaint, advice, column)
    }

    static func outOfRange(_ allowed: String) -> Refusal {
        Refusal("is out of range", advice: "it may be \(allowed)")
    }

    public var sentence: String {
        complaint + (column.map { " at column \($0)" } ?? "") + (advice.map { "; \($0)" } ?? "")
    }
}
