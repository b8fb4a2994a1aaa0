/// The moment when a picture was taken, by the camera's clock, or else the date of its file.
public struct PictureDate: Sendable, Hashable, Codable {
    /// Where the date comes from. The first three are names of EXIF fields.
    public enum Source: String, Sendable, Hashable, Codable {
        case original = "DateTimeOriginal"
        case digitized = "DateTimeDigitized"
        case changed = "DateTime"
        /// The file's modification time.
        case file
        /// Today's date, for credit texts of pictures without a date; never used in names.
        case clock
    }

    public let source: Source
    public let year: Int
    public let month: Int
    public let day: Int
    public let hour: Int
    public let minute: Int
    public let second: Int

    /// Nil if the day does not exist. An invalid time becomes midnight.
    public init?(
        year: Int, month: Int, day: Int, hour: Int = 0, minute: Int = 0, second: Int = 0, source: Source
    ) {
        guard (1...9999).contains(year), (1...12).contains(month), (1...Self.days(of: month, in: year)).contains(day)
        else { return nil }
        let isTime = (0...23).contains(hour) && (0...59).contains(minute) && (0...59).contains(second)
        (self.source, self.year, self.month, self.day) = (source, year, month, day)
        (self.hour, self.minute, self.second) = isTime ? (hour, minute, second) : (0, 0, 0)
    }

    /// Parses a date in EXIF's format: `2026:11:24 09:30:00`. Nil if the text is not a valid date, such as the zeros of
    /// a camera whose clock was never set.
    public init?(exif text: String, source: Source) {
        func numbers(_ text: Substring.UTF8View.SubSequence, _ lengths: [Int]) -> [Int]? {
            let parts = text.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
            let isRight = zip(parts, lengths).allSatisfy { part, length in
                part.count == length && part.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            }
            guard parts.count == lengths.count, isRight else { return nil }
            return parts.compactMap { Int(String(decoding: $0, as: UTF8.self)) }
        }
        let parts = Substring(text).utf8.split(separator: UInt8(ascii: " "), maxSplits: 1)
        guard let first = parts.first, let day = numbers(first, [4, 2, 2]) else { return nil }
        let time = parts.dropFirst().first.flatMap { numbers($0, [2, 2, 2]) } ?? [0, 0, 0]
        self.init(
            year: day[0], month: day[1], day: day[2], hour: time[0], minute: time[1], second: time[2], source: source)
    }

    /// The day of the year, from 1.
    var dayOfYear: Int { (1..<month).reduce(day) { $0 + Self.days(of: $1, in: year) } }

    /// "2026-11-24 09:30:00, from EXIF's DateTimeOriginal".
    public var words: String {
        func two(_ number: Int) -> String { number.padded(to: 2) }
        let text =
            "\(year.padded(to: 4))-\(two(month))-\(two(day)) \(two(hour)):\(two(minute)):\(two(second))"
        let origin =
            switch source {
            case .original, .digitized, .changed: "EXIF's \(source.rawValue)"
            case .file: "the file's own time"
            case .clock: "the clock"
            }
        return "\(text), from \(origin)"
    }

    private static func days(of month: Int, in year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}

/// Decoding checks the date, because a worker that a hostile file has taken over may send any values.
extension PictureDate {
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        func number(_ key: CodingKeys) throws -> Int { try values.decode(Int.self, forKey: key) }
        let date = PictureDate(
            year: try number(.year), month: try number(.month), day: try number(.day), hour: try number(.hour),
            minute: try number(.minute), second: try number(.second),
            source: try values.decode(Source.self, forKey: .source))
        guard let date else {
            throw DecodingError.dataCorruptedError(forKey: .day, in: values, debugDescription: "there is no such day")
        }
        self = date
    }
}

extension Int {
    /// The number with leading zeros, at least `digits` long.
    func padded(to digits: Int) -> String {
        String(repeating: "0", count: Swift.max(0, digits - "\(self)".count)) + "\(self)"
    }
}
