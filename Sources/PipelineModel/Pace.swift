/// The recent rate of some work, and the time left; nil while unknown. The caller passes the time, in seconds.
public struct Pace: Sendable, Hashable {
    public struct Measure: Sendable, Hashable {
        /// Length of the measured period, in seconds.
        var span: Double
        /// Minimum time between two marks, in seconds.
        var step: Double
        /// The measured period is extended to cover at least this many steps with progress: slow work has few.
        var leastSteps: Int
        /// The rate is nil until this much is done.
        var leastDone: Int64
        /// The rate is nil until this many seconds have passed.
        var leastTime: Double

        /// Bytes arrive irregularly, and are reported several times a second.
        public static let bytes = Measure(span: 5, step: 0.2, leastSteps: 0, leastDone: 1, leastTime: 1)
        /// Pixels arrive steadily, except while an encoder works.
        public static let pixels = Measure(span: 30, step: 1, leastSteps: 0, leastDone: 1, leastTime: 1)
        /// Many jobs may end together, followed by a pause.
        public static let jobs = Measure(span: 30, step: 1, leastSteps: 8, leastDone: 3, leastTime: 2)
    }

    private struct Mark: Hashable {
        var time: Double
        var done: Int64
    }

    private let measure: Measure
    /// The first mark is the start of the measured period.
    private var marks: [Mark] = []
    public private(set) var done: Int64 = 0

    public init(_ measure: Measure) { self.measure = measure }

    public var hasBegun: Bool { !marks.isEmpty }

    /// Starts, or restarts after a pause: the rate before a pause does not predict the rate after it.
    public mutating func begin(at time: Double, done: Int64? = nil) {
        self.done = done ?? self.done
        marks = [Mark(time: time, done: self.done)]
    }

    public mutating func take(_ done: Int64, at time: Double) {
        guard let last = marks.last, done >= self.done, time >= last.time else { return begin(at: time, done: done) }
        self.done = done
        if marks.count > 1, time - last.time < measure.step {
            marks[marks.count - 1].done = done
        } else {
            marks.append(Mark(time: time, done: done))
        }
        let first = firstThatCounts(at: time)
        // The first mark stays until a later mark is older than the span.
        if first > 0 { marks.removeFirst(first) }
    }

    /// The latest mark older than the span, or an earlier one if too few steps would follow it.
    private func firstThatCounts(at time: Double) -> Int {
        let old = marks.lastIndex { time - $0.time >= measure.span } ?? 0
        return max(0, min(old, marks.count - 1 - measure.leastSteps))
    }

    /// Units per second. The rate falls while there is no progress.
    public func rate(at time: Double) -> Double? {
        guard !marks.isEmpty else { return nil }
        let first = marks[firstThatCounts(at: time)]
        let (amount, seconds) = (done - first.done, time - first.time)
        guard amount >= measure.leastDone, seconds >= measure.leastTime else { return nil }
        return Double(amount) / seconds
    }

    /// Seconds until `left` more units are done.
    public func remaining(_ left: Double, at time: Double) -> Double? {
        guard let rate = rate(at: time), rate > 0 else { return nil }
        return max(0, left) / rate
    }
}
