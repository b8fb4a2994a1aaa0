/// Why a text can't be the value of something: what it "is", and what it may be. Who asked adds the name and the place.
struct Refusal: Error, Equatable {
    var complaint: String
    var advice: String?

    init(_ complaint: String, advice: String? = nil) {
        self.complaint = complaint
        self.advice = advice
    }

    static func outOfRange(_ allowed: String) -> Refusal {
        Refusal("is out of range", advice: "it may be \(allowed)")
    }

    var sentence: String {
        complaint + (advice.map { "; \($0)" } ?? "")
    }
}
