/// The times of day at which a recipe's pictures may begin: `22-06`, or `22:30-06:15, 12-13`.
public struct Hours: Sendable, Hashable {
    /// Minutes since midnight. A window whose end is not after its start continues past midnight.
    private struct Window: Hashable {
        var start: Int
        var end: Int

        func contains(_ minute: Int) -> Bool {
            start < end ? (start..<end).contains(minute) : minute >= start || minute < end
        }
    }

    private static let day = 24 * 60
    private static let form = "write it like 22-06, or 22:30-06:15, with commas between several"

    /// The hours as written, without spaces.
    public let text: String
    private let windows: [Window]

    public init(_ text: String) throws(Refusal) {
        var (windows, words): ([Window], [String]) = ([], [])
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let word = part.filter { !$0.isWhitespace }
            let ends = word.split(separator: "-", omittingEmptySubsequences: false)
            guard ends.count == 2, let start = Self.minute(ends[0]), let end = Self.minute(ends[1]) else {
                let complaint = text.contains(",") ? "has '\(part.withoutBlanks)' in it" : "is not a range of hours"
                throw Refusal(complaint, advice: Self.form)
            }
            guard start != end, start < Self.day else {
                throw Refusal("has '\(word)' in it, which is not a range of time", advice: Self.form)
            }
            windows.append(Window(start: start, end: end))
            words.append(word)
        }
        (self.windows, self.text) = (windows, words.joined(separator: ","))
    }

    /// Converts `22`, `22:30` or `24` to minutes since midnight.
    private static func minute(_ text: Substring) -> Int? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), parts.allSatisfy({ (1...2).contains($0.utf8.count) }),
            parts.count == 1 || parts[1].utf8.count == 2
        else { return nil }
        let numbers = parts.compactMap { $0.utf8.allSatisfy { (48...57).contains($0) } ? Int($0) : nil }
        guard numbers.count == parts.count, let hour = numbers.first else { return nil }
        let minute = numbers.count == 2 ? numbers[1] : 0
        return (hour < 24 && minute < 60) || (hour == 24 && minute == 0) ? hour * 60 + minute : nil
    }

    public func contain(minute: Int) -> Bool { windows.contains { $0.contains(minute) } }

    /// The next time at which the hours begin or end, in seconds since 1970; nil if they never do. `minute` converts a
    /// time to the local minute of the day. Checks every minute in turn, so that daylight saving time needs no special
    /// case.
    public func nextChange(after time: Double, minute: (Double) -> Int) -> Double? {
        let isNow = contain(minute: minute(time))
        var next = (time / 60).rounded(.down) * 60
        // Checks two hours more than a usual day, because a day with a change of the clocks is longer.
        for _ in 0...Self.day + 120 {
            next += 60
            if contain(minute: minute(next)) != isNow { return next }
        }
        return nil
    }
}

extension SettingType<Hours?> {
    static let hours = Self(values: "times of day, as 22-06 or 22:30-06:15, with commas between several") {
        text, _ throws(Refusal) in
        text.isEmpty ? nil : try Hours(text)
    } write: {
        $0?.text ?? ""
    }
}
