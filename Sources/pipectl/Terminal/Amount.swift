import PipelineModel

/// Formats numbers for people.
enum Amount {
    /// `820 B`, `4.1 MB`
    static func bytes(_ count: Int) -> String {
        var value = Double(count)
        var unit = "B"
        for larger in ["kB", "MB", "GB", "TB"] where value >= 1000 {
            value /= 1000
            unit = larger
        }
        return unit == "B" || value >= 100 ? "\(Int(nearest: value)) \(unit)" : "\(tenths(value)) \(unit)"
    }

    /// Pixels: `12.1 MP`, or `820 kP` for thousands.
    static func pixels(_ count: Int) -> String {
        let millions = Double(count) / 1_000_000
        if millions < 1 { return "\(count / 1000) kP" }
        return millions >= 100 ? "\(Int(nearest: millions)) MP" : "\(tenths(millions)) MP"
    }

    /// A rate per second, shown as `34/min`, or as `20/h` if it is below one per minute.
    static func perMinute(_ rate: Double) -> String {
        let minute = rate * 60
        if minute >= 10 { return "\(Int(nearest: minute))/min" }
        return minute >= 1 ? "\(tenths(minute))/min" : "\(Int(nearest: minute * 60))/h"
    }

    /// `35 ms`, `2.4 s`
    static func milliseconds(_ count: Double) -> String {
        if count < 10 { return "\(tenths(count)) ms" }
        if count < 1000 { return "\(Int(nearest: count)) ms" }
        return count < 60_000 ? "\(tenths(count / 1000)) s" : Moment.duration(count / 1000)
    }

    /// A number without needless digits: `0.5`, `12`.
    static func plain(_ value: Double) -> String {
        value == value.rounded() && abs(value) < 1e15 ? "\(Int(value))" : "\(value)"
    }

    static func tenths(_ value: Double) -> String {
        let tenths = Int(nearest: value * 10)
        return "\(tenths / 10).\(abs(tenths % 10))"
    }

    /// `1 job`, `3 jobs`
    static func counted(_ count: Int, _ word: String) -> String { count.counted(word) }
}
