/// A credit text with fields for the picture's date: `© {date:%Y} Ada Lovelace`. A plain `{date}` gives 2026-11-24.
public struct CreditText: Sendable, Hashable {
    private enum Part: Hashable {
        case text(String)
        case date(DateFormat)
    }

    /// Maximum length in bytes, before dates are filled in.
    public static let longest = 1000

    private let parts: [Part]

    public init(_ text: String) throws(Refusal) {
        guard !text.isEmpty, text.utf8.count <= Self.longest, text.unicodeScalars.allSatisfy({ $0.value >= 0x20 })
        else {
            throw Refusal("is not a text", advice: "write one line of at most \(Self.longest) bytes")
        }
        var parts: [Part] = []
        var rest = text[...]
        while let start = rest.firstIndex(of: "{") {
            guard let end = rest[start...].firstIndex(of: "}") else { throw Self.unknown(rest[start...]) }
            let word = rest[rest.index(after: start)..<end]
            guard word == "date" || word.hasPrefix("date:") else { throw Self.unknown(rest[start...end]) }
            guard let format = DateFormat(word == "date" ? DateFormat.standard : String(word.dropFirst("date:".count)))
            else { throw Self.unknown(rest[start...end]) }
            parts += [.text(String(rest[..<start])), .date(format)]
            rest = rest[rest.index(after: end)...]
        }
        self.parts = parts + [.text(String(rest))]
    }

    private static func unknown(_ word: Substring) -> Refusal {
        Refusal("has '\(word)' in it", advice: DateFormat.allowed)
    }

    public func text(on date: PictureDate) -> String {
        parts.map { part in
            switch part {
            case .text(let text): text
            case .date(let format): format.text(of: date)
            }
        }.joined()
    }
}
