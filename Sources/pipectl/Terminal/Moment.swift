import FoundationEssentials
import Glibc

/// Converts the daemon's times (ISO 8601 in UTC) into local times for people.
enum Moment {
    static func seconds(_ text: String) -> Double? {
        let date =
            (try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
            ?? (try? Date(text, strategy: .iso8601))
        return date?.timeIntervalSince1970
    }

    static func now() -> Double { Date().timeIntervalSince1970 }

    /// `14:03:22`, or `2026-03-01 14:03` if it is not today.
    static func local(_ text: String, now: Double = now()) -> String {
        guard let seconds = seconds(text) else { return text }
        let (then, today) = (calendar(seconds), calendar(now))
        let sameDay = then.tm_yday == today.tm_yday && then.tm_year == today.tm_year
        return format(then, sameDay ? "%H:%M:%S" : "%Y-%m-%d %H:%M")
    }

    /// `2026-03-01 14:03:22`
    static func full(_ text: String) -> String {
        seconds(text).map { format(calendar($0), "%Y-%m-%d %H:%M:%S") } ?? text
    }

    /// At most the two largest units: `3 h 12 min`.
    static func duration(_ seconds: Double) -> String {
        let whole = Int(max(0, min(seconds, 1e12)).rounded())
        let (minutes, hours, days) = (whole / 60, whole / 3600, whole / 86400)
        if days > 0 { return "\(days) d \(hours % 24) h" }
        if hours > 0 { return "\(hours) h \(minutes % 60) min" }
        if minutes > 0 { return minutes < 10 ? "\(minutes) min \(whole % 60) s" : "\(minutes) min" }
        return "\(whole) s"
    }

    private static func calendar(_ seconds: Double) -> tm {
        var time = time_t(seconds)
        var parts = tm()
        localtime_r(&time, &parts)
        return parts
    }

    private static func format(_ parts: tm, _ form: String) -> String {
        var parts = parts
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { room in
            guard let start = room.baseAddress, strftime(start, room.count, form, &parts) > 0 else { return "" }
            return String(cString: start)
        }
    }
}
