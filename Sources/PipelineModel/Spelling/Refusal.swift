/// The reason why a text can't be a value: what it "is", and what it may be. The caller adds name and place.
public struct Refusal: Error, Equatable {
    public var complaint: String
    public var advice: String?

    init(_ complaint: String, advice: String? = nil) {
        (self.complaint, self.advice) = (complaint, advice)
    }

    static func outOfRange(_ allowed: String) -> Refusal {
        Refusal("is out of range", advice: "it may be \(allowed)")
    }

    public var sentence: String {
        complaint + (advice.map { "; \($0)" } ?? "")
    }
}
