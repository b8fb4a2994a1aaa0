import Dispatch

/// Limits the rate at which client errors are logged, because a faulty client repeats its errors fast. Allows one line
/// of each kind per `pause`; the next allowed line reports the number of suppressed lines.
struct Complaints {
    enum Kind {
        case nonsense, excess, stall, full
    }

    private static let pause = 10.0
    private var last: [Kind: (time: DispatchTime, unsaid: Int)] = [:]

    /// Returns the line to log, or nil if a line of this kind was logged less than `pause` ago.
    mutating func line(_ kind: Kind, _ line: String, at now: DispatchTime) -> String? {
        guard let (time, unsaid) = last[kind] else {
            last[kind] = (now, 0)
            return line
        }
        guard Double(now.uptimeNanoseconds - time.uptimeNanoseconds) / 1e9 >= Self.pause else {
            last[kind] = (time, unsaid + 1)
            return nil
        }
        last[kind] = (now, 0)
        return unsaid == 0 ? line : "\(line) (since the last such line: \(unsaid) more)"
    }
}
