import Dispatch

/// A client that makes mistakes makes them fast: of each kind one line is logged in a while, with how many were not.
struct Complaints {
    enum Kind {
        case nonsense, excess, stall, full
    }

    private static let pause = 10.0
    private var last: [Kind: (time: DispatchTime, unsaid: Int)] = [:]

    /// The line to log, or nil when one of its kind has just been logged.
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
