import Glibc

/// Points in time: seconds since 1970 inside, ISO 8601 in UTC outside.
enum Timestamp {
    static func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// `2026-03-01T09:30:00.250Z`
    static func text(_ seconds: Double) -> String {
        var whole = time_t(seconds)
        let milliseconds = min(999, Int((seconds - Double(whole)) * 1000))
        var parts = tm()
        gmtime_r(&whole, &parts)
        func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let fraction = "00\(milliseconds)".suffix(3)
        return "\(parts.tm_year + 1900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))"
            + "T\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec)).\(fraction)Z"
    }

    /// The local time of day, for people: `09:30:00`.
    static func clock(_ seconds: Double) -> String {
        var whole = time_t(seconds)
        var parts = tm()
        localtime_r(&whole, &parts)
        func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))"
    }
}
