import Foundation
import Testing

@testable import PipelineModel

@Suite("The hours of a recipe")
struct HoursTextTests {
    @Test(
        "Hours are windows of the local day, which may go past midnight",
        arguments: [
            ("22-06", [22 * 60, 0, 359], [360, 720, 22 * 60 - 1]),
            ("8-12, 13:30-17", [480, 719, 810], [720, 809, 1020]),
            ("22:30-06:15", [1350, 374], [1349, 375]), ("00-24", [0, 1439], []), ("12-24", [720, 1439], [0, 719]),
        ])
    func windows(text: String, open: [Int], closed: [Int]) throws {
        let hours = try Hours(text)
        #expect(open.allSatisfy(hours.contain(minute:)) && !closed.contains(where: hours.contain(minute:)))
        #expect(try Hours(hours.text) == hours)
    }

    @Test("Invalid hours are refused, and the advice shows how to write them")
    func mistakes() {
        let mistakes = [
            "": "is not a range of hours", "night": "is not a range of hours", "22": "is not a range of hours",
            "22-": "is not a range of hours",
            "22-06,": "has '' in it", "8-12,25-26": "has '25-26' in it", "8-12,7:5-8": "has '7:5-8' in it",
            "22-22": "has '22-22' in it, which is not a range of time",
            "24-06": "has '24-06' in it, which is not a range of time",
            "22:60-06": "is not a range of hours", "-1-06": "is not a range of hours",
            "٢٢-٠٦": "is not a range of hours",
        ]
        for (text, complaint) in mistakes {
            let refusal = #expect(throws: Refusal.self) { try Hours(text) }
            #expect(refusal?.complaint == complaint, "\(text)")
            #expect(refusal?.advice?.contains("22:30-06:15") == true)
        }
    }

    /// Returns the next times after `start` at which these hours begin or end, as local times in Berlin with their
    /// offsets from UTC.
    private func changes(_ hours: String, after start: String, _ count: Int) throws -> [String] {
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = TimeZone(identifier: "Europe/Berlin")
        format.dateFormat = "yyyy-MM-dd HH:mm:ss xx"
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = format.timeZone
        var time = try #require(format.date(from: start)).timeIntervalSince1970
        return try (1...count).map { _ in
            time = try #require(
                try Hours(hours).nextChange(after: time) { time in
                    let parts = calendar.dateComponents([.hour, .minute], from: Date(timeIntervalSince1970: time))
                    return (parts.hour ?? 0) * 60 + (parts.minute ?? 0)
                })
            return format.string(from: Date(timeIntervalSince1970: time))
        }
    }

    @Test("The next change follows daylight saving: hours that a day skips begin late, others begin twice")
    func daylightSaving() throws {
        #expect(
            try changes("22-06", after: "2026-03-28 12:34:56 +0100", 2) == [
                "2026-03-28 22:00:00 +0100", "2026-03-29 06:00:00 +0200",
            ])
        #expect(
            try changes("02:30-06", after: "2026-03-29 01:00:00 +0100", 2) == [
                "2026-03-29 03:00:00 +0200", "2026-03-29 06:00:00 +0200",
            ])
        #expect(
            try changes("01-02:30", after: "2026-10-25 00:30:00 +0200", 4) == [
                "2026-10-25 01:00:00 +0200", "2026-10-25 02:30:00 +0200", "2026-10-25 02:00:00 +0100",
                "2026-10-25 02:30:00 +0100",
            ])
        #expect(try changes("22-23", after: "2026-10-24 23:00:00 +0200", 1) == ["2026-10-25 22:00:00 +0100"])
    }

    @Test("Hours that last all day never change")
    func always() throws {
        for text in ["00-24", "12-06,5-13"] {
            #expect(try Hours(text).nextChange(after: 1_800_000_000) { Int($0 / 60) % 1440 } == nil)
        }
    }
}
