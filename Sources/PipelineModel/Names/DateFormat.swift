/// A date format in strftime notation: `%Y-%m-%d`.
public struct DateFormat: Sendable, Hashable {
    public enum Field: String, Sendable, CaseIterable {
        case year = "%Y"
        case shortYear = "%y"
        case month = "%m"
        case day = "%d"
        case hour = "%H"
        case minute = "%M"
        case second = "%S"
        case dayOfYear = "%j"

        public var help: String {
            switch self {
            case .year: "the year, 2026"
            case .shortYear: "the year, 26"
            case .month: "the month, 01 to 12"
            case .day: "the day, 01 to 31"
            case .hour: "the hour, 00 to 23"
            case .minute: "the minute"
            case .second: "the second"
            case .dayOfYear: "the day of the year, 001 to 366"
            }
        }

        func text(_ date: PictureDate) -> String {
            switch self {
            case .year: date.year.padded(to: 4)
            case .shortYear: (date.year % 100).padded(to: 2)
            case .month: date.month.padded(to: 2)
            case .day: date.day.padded(to: 2)
            case .hour: date.hour.padded(to: 2)
            case .minute: date.minute.padded(to: 2)
            case .second: date.second.padded(to: 2)
            case .dayOfYear: date.dayOfYear.padded(to: 3)
            }
        }
    }

    private enum Part: Hashable {
        case text(String)
        case field(Field)
    }

    /// The format of a field `{date}` without a format of its own: the ISO 8601 date.
    static let standard = "%Y-%m-%d"
    static let allowed = "it may be {date}, or {date:%Y} with \(Field.allCases.map(\.rawValue).enumeration)"

    public let text: String
    private let parts: [Part]

    /// Nil if the text contains an unknown field, or no field at all.
    public init?(_ text: String) {
        var parts: [Part] = []
        var rest = text[...]
        while let percent = rest.firstIndex(of: "%") {
            guard let field = Field(rawValue: String(rest[percent...].prefix(2))) else { return nil }
            parts += [.text(String(rest[..<percent])), .field(field)]
            rest = rest[percent...].dropFirst(2)
        }
        guard !parts.isEmpty else { return nil }
        self.text = text
        self.parts = parts + [.text(String(rest))]
    }

    /// The literal text before the first field.
    var begin: String { if case .text(let text)? = parts.first { text } else { "" } }

    /// Maximum length of the formatted date, in bytes.
    var length: Int {
        parts.reduce(0) { length, part in
            if case .text(let text) = part { length + text.utf8.count } else { length + 4 }
        }
    }

    public func text(of date: PictureDate) -> String {
        parts.map { part in
            switch part {
            case .text(let text): text
            case .field(let field): field.text(date)
            }
        }.joined()
    }
}
