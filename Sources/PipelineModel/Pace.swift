/// Measures the recent rate of some work, and estimates the time left. Both results are nil while unknown. Callers pass
/// the current time, in seconds.
public struct Pace: Sendable, Hashable {
    public struct Measure: Sendable, Hashable {
        /// Length of the measured period, in seconds.
        var span: Double
        /// Minimum time between two recorded reports (marks), in seconds. A report that arrives sooner updates the
        /// latest mark.
        var step: Double
        /// Minimum number of marks in the measured period. For slow work, the period grows beyond `span` until it
        /// contains this many marks.
        var leastSteps: Int
        /// The rate is nil until this many units are done.
        var leastDone: Int64
        /// The rate is nil until this many seconds have passed.
        var leastTime: Double

        /// For downloads: bytes arrive irregularly, and workers report them several times a second.
        public static let bytes = Measure(span: 5, step: 0.2, leastSteps: 0, leastDone: 1, leastTime: 1)
        /// For rendering: pixels are processed at a steady rate, except while an encoder works.
        public static let pixels = Measure(span: 30, step: 1, leastSteps: 0, leastDone: 1, leastTime: 1)
        /// For batches: many jobs may finish at once, followed by a pause.
        public static let jobs = Measure(span: 30, step: 1, leastSteps: 8, leastDone: 3, leastTime: 2)
    }

    private struct Mark: Hashable {
        var time: Double
        var done: Int64
    }

    private let measure: Measure
    /// The recorded reports, oldest first. The first mark is the start of the measured period.
    private var marks: [Mark] = []
    public private(set) var done: Int64 = 0

    public init(_ measure: Measure) { self.measure = measure }

    public var hasBegun: Bool { !marks.isEmpty }

    /// Starts the measurement. Call this method again after a pause, because the rate before a pause does not predict
    /// the rate after the pause.
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
        // Keeps the first mark until a later mark is older than the span.
        if first > 0 { marks.removeFirst(first) }
    }

    /// Index of the latest mark older than the span, or of an earlier mark if fewer than `leastSteps` marks would
    /// follow.
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
