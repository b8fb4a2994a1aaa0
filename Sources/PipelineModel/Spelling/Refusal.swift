/// The reason why a text can't be a value: what it "is", and what it may be. The caller adds name and place.
public struct Refusal: Error, Equatable {
    public var complaint: String
    public var advice: String?
    /// The mistake's place in the text, counted from 1, if it is known.
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
