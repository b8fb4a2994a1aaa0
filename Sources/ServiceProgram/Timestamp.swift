import Glibc

/// Points in time. The program calculates in seconds since 1970; machine-readable texts use ISO 8601 in UTC.
package enum Timestamp {
    package static func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// `2026-03-01T09:30:00.250Z`
    package static func text(_ seconds: Double) -> String {
        var whole = time_t(seconds)
        let milliseconds = min(999, Int((seconds - Double(whole)) * 1000))
        var parts = tm()
        gmtime_r(&whole, &parts)
        let fraction = "00\(milliseconds)".suffix(3)
        return "\(parts.tm_year + 1900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))"
            + "T\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec)).\(fraction)Z"
    }

    /// The start of the local day that contains the given time.
    package static func midnight(of seconds: Double = now()) -> Double {
        var whole = time_t(seconds)
        var parts = tm()
        localtime_r(&whole, &parts)
        (parts.tm_hour, parts.tm_min, parts.tm_sec, parts.tm_isdst) = (0, 0, 0, -1)
        return Double(mktime(&parts))
    }

    /// A local time for people: `09:30:00`, or `2026-03-01 09:30:00` when it is not today.
    package static func local(_ seconds: Double, now: Double = now()) -> String {
        let (then, today) = (calendar(seconds), calendar(now))
        return (then.tm_year, then.tm_yday) == (today.tm_year, today.tm_yday) ? clock(seconds) : dated(seconds)
    }

    /// The local time of day: `09:30:00`.
    package static func clock(_ seconds: Double) -> String { clock(calendar(seconds)) }

    private static func clock(_ parts: tm) -> String {
        "\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))"
    }

    /// The local time with its date, for people: `2026-03-01 09:30:00`.
    package static func dated(_ seconds: Double) -> String {
        let parts = calendar(seconds)
        return "\(parts.tm_year + 1900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday)) \(clock(parts))"
    }

    /// The local time of day, in minutes since midnight.
    package static func minuteOfDay(_ seconds: Double) -> Int {
        let parts = calendar(seconds)
        return Int(parts.tm_hour) * 60 + Int(parts.tm_min)
    }

    /// `06:15`
    package static func text(ofMinute minute: Int) -> String { "\(two(Int32(minute / 60))):\(two(Int32(minute % 60)))" }

    private static func calendar(_ seconds: Double) -> tm {
        var whole = time_t(seconds)
        var parts = tm()
        localtime_r(&whole, &parts)
        return parts
    }

    private static func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
