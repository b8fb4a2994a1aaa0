import Foundation
import ServiceProgram
import Testing

@testable import ControlService

@Suite("Times as people write them")
struct TimestampTests {
    private let now = 1_772_357_400.0

    @Test(
        "ages and times with a time zone are read",
        arguments: [
            ("90s", 1_772_357_310.0), ("1h", 1_772_353_800), ("1h 30min", 1_772_352_000), ("2d", 1_772_184_600),
            ("2026-03-01T09:30:00Z", 1_772_357_400), ("2026-03-01T09:30:00.250Z", 1_772_357_400.25),
            ("2026-03-01T10:30:00+01:00", 1_772_357_400), ("2026-03-01 04:00-0530", 1_772_357_400),
            ("2026-03-01Z", 1_772_323_200),
        ])
    func absolute(text: String, seconds: Double) { #expect(Timestamp.seconds(text, now: now) == seconds) }

    @Test("a time without a zone is local; without a date it is today's")
    func local() throws {
        let day = try #require(Timestamp.seconds("2026-03-01", now: now))
        #expect(Timestamp.seconds("2026-03-01 09:30", now: now) == day + 9.5 * 3600)
        #expect(Timestamp.seconds("2026-03-01T09:30:15", now: now) == day + 9.5 * 3600 + 15)
        #expect(Timestamp.seconds("09:30", now: day + 3600) == day + 9.5 * 3600)
        #expect(Timestamp.text(try #require(Timestamp.seconds(Timestamp.text(now), now: 0))) == Timestamp.text(now))
    }

    @Test(
        "an invalid time is refused",
        arguments: [
            "", "yesterday", "5", "2026", "2026-13-01", "2026-03-01 25:00", "1 parsec", "-1h", "Z", "T", "٢٠٢٦-٠٣-٠١",
            "٠٩:٣٠",
        ])
    func none(text: String) { #expect(Timestamp.seconds(text, now: now) == nil) }

    @Test("a time that is not today's is shown with its date")
    func dated() throws {
        let noon = try #require(Timestamp.seconds("2026-03-01 12:00"))
        #expect(Timestamp.local(noon, now: noon + 3600) == "12:00:00")
        #expect(Timestamp.local(noon, now: noon + 86400) == "2026-03-01 12:00:00")
        #expect(Timestamp.local(noon, now: noon - 86400 * 365) == "2026-03-01 12:00:00")
    }
}
