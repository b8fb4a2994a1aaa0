/// A text with the picture's date in it: `© {date:%Y} Ada Lovelace`, or `{date}` for 2026-11-24.
public struct CreditText: Sendable, Hashable {
    /// A date as it is written: the year with four digits, month and day with two.
    public struct Day: Sendable, Hashable {
        let (year, month, day): (String, String, String)

        public init(year: Int, month: Int, day: Int) {
            func digits(_ number: Int, _ count: Int) -> String {
                String(repeating: "0", count: max(0, count - "\(number)".count)) + "\(number)"
            }
            (self.year, self.month, self.day) = (digits(year, 4), digits(month, 2), digits(day, 2))
        }

        /// EXIF's own form: `2026:11:24 09:30:00`. Nil when the camera's clock was not set.
        public init?(exif: String) {
            let numbers = exif.prefix(10).split(separator: ":").compactMap { Int($0) }
            guard numbers.count == 3, numbers[0] > 0, (1...12).contains(numbers[1]), (1...31).contains(numbers[2])
            else {
                return nil
            }
            self.init(year: numbers[0], month: numbers[1], day: numbers[2])
        }
    }

    private enum Part: Hashable {
        case text(String)
        case date(format: String)
    }

    /// In bytes, before the dates are put in.
    public static let longest = 1000

    private let parts: [Part]

    public init(_ text: String) throws(Refusal) {
        guard !text.isEmpty, text.utf8.count <= Self.longest, text.unicodeScalars.allSatisfy({ $0.value >= 0x20 })
        else {
            throw Refusal("is no text", advice: "write one line of at most \(Self.longest) bytes")
        }
        var parts: [Part] = []
        var rest = text[...]
        while let start = rest.firstIndex(of: "{") {
            guard let end = rest[start...].firstIndex(of: "}") else { throw Self.unknown(rest[start...]) }
            let word = rest[rest.index(after: start)..<end]
            guard word == "date" || word.hasPrefix("date:") else { throw Self.unknown(rest[start...end]) }
            let format = word == "date" ? "%Y-%m-%d" : String(word.dropFirst("date:".count))
            let others = ["%Y", "%m", "%d"].reduce(format) { $0.replacing($1, with: "") }
            guard !others.contains("%"), others != format else { throw Self.unknown(rest[start...end]) }
            parts += [.text(String(rest[..<start])), .date(format: format)]
            rest = rest[rest.index(after: end)...]
        }
        self.parts = parts + [.text(String(rest))]
    }

    private static func unknown(_ word: Substring) -> Refusal {
        Refusal("has '\(word)' in it", advice: "it may be {date}, or {date:%Y} with %Y, %m and %d")
    }

    public func text(on day: Day) -> String {
        parts.map { part in
            switch part {
            case .text(let text): text
            case .date(let format):
                format.replacing("%Y", with: day.year).replacing("%m", with: day.month).replacing("%d", with: day.day)
            }
        }.joined()
    }
}
