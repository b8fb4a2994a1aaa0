import Glibc
import PipelineModel
import ServiceProgram

extension Timestamp {
    /// Parses a time as people write it: an age (`1h`), a local time (`2026-03-01`, `2026-03-01 09:30`, `09:30`), or a
    /// time with a zone (`2026-03-01T09:30:00Z`, `…+01:00`).
    static func seconds(_ text: String, now: Double = now()) -> Double? {
        if let ago = Duration(text: text), text.last?.isLetter == true, text.last != "Z" {
            return now - ago / .seconds(1)
        }
        let form =
            /((\d{4})-(\d\d)-(\d\d))?[T ]?((\d\d):(\d\d)(?::(\d\d(?:\.\d+)?))?)?(Z|[+-]\d\d:?\d\d)?/
            .asciiOnlyDigits()
        guard let match = text.wholeMatch(of: form) else { return nil }
        var parts = tm()
        var today = time_t(now)
        localtime_r(&today, &parts)
        func number(_ digits: Substring?) -> Int32? { digits.flatMap { Int32($0) } }
        let (date, clock, zone) = (match.output.1, match.output.5, match.output.9)
        guard date != nil || clock != nil else { return nil }
        if let year = number(match.output.2), let month = number(match.output.3), let day = number(match.output.4) {
            guard (1...12).contains(month), (1...31).contains(day) else { return nil }
            (parts.tm_year, parts.tm_mon, parts.tm_mday) = (year - 1900, month - 1, day)
        }
        let (hour, minute) = (number(match.output.6) ?? 0, number(match.output.7) ?? 0)
        let second = match.output.8.flatMap { Double($0) } ?? 0
        guard hour < 24, minute < 60, second < 61 else { return nil }
        (parts.tm_hour, parts.tm_min, parts.tm_sec, parts.tm_isdst) = (hour, minute, 0, -1)
        guard let zone else { return Double(mktime(&parts)) + second }
        return Double(timegm(&parts)) + second - offset(zone)
    }

    /// Converts a zone, such as `+01:00`, to seconds.
    private static func offset(_ zone: Substring) -> Double {
        let digits = zone.filter(\.isNumber)
        guard digits.count == 4, let hours = Double(digits.prefix(2)), let minutes = Double(digits.suffix(2)) else {
            return 0
        }
        return (hours * 3600 + minutes * 60) * (zone.hasPrefix("-") ? -1 : 1)
    }
}
