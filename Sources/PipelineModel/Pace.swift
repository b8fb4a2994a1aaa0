/// The recent speed of some work, and its remaining time; nil while they are unknown. Time is handed in, in seconds.
public struct Pace: Sendable, Hashable {
    public struct Measure: Sendable, Hashable {
        /// The rate is measured over so many last seconds.
        var span: Double
        /// Seconds between two marks.
        var step: Double
        /// The rate is measured over at least so many steps with progress, however long ago: slow work has few.
        var leastSteps: Int
        /// The figures are nil before so much has been done.
        var leastDone: Int64
        /// The figures are nil before so many seconds have passed.
        var leastTime: Double

        /// Bytes come irregularly, and are reported several times a second.
        public static let bytes = Measure(span: 5, step: 0.2, leastSteps: 0, leastDone: 1, leastTime: 1)
        /// Pixels flow, and stand still while an encoder works.
        public static let pixels = Measure(span: 30, step: 1, leastSteps: 0, leastDone: 1, leastTime: 1)
        /// Many jobs may end together, and then none for a while.
        public static let jobs = Measure(span: 30, step: 1, leastSteps: 8, leastDone: 3, leastTime: 2)
    }

    private struct Mark: Hashable {
        var time: Double
        var done: Int64
    }

    private let measure: Measure
    /// The first mark is the beginning of the measurement.
    private var marks: [Mark] = []
    public private(set) var done: Int64 = 0

    public init(_ measure: Measure) { self.measure = measure }

    public var hasBegun: Bool { !marks.isEmpty }

    /// Begins, or goes on after a pause: the speed before a pause says nothing about the speed after it.
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
        // The first mark counts as long as no other is older than the span.
        if first > 0 { marks.removeFirst(first) }
    }

    /// The latest mark older than the span, unless that leaves too few.
    private func firstThatCounts(at time: Double) -> Int {
        let old = marks.lastIndex { time - $0.time >= measure.span } ?? 0
        return max(0, min(old, marks.count - 1 - measure.leastSteps))
    }

    /// Units a second. The rate falls while nothing is done.
    public func rate(at time: Double) -> Double? {
        guard !marks.isEmpty else { return nil }
        let first = marks[firstThatCounts(at: time)]
        let (amount, seconds) = (done - first.done, time - first.time)
        guard amount >= measure.leastDone, seconds >= measure.leastTime else { return nil }
        return Double(amount) / seconds
    }

    /// Seconds until so much more is done.
    public func remaining(_ left: Double, at time: Double) -> Double? {
        guard let rate = rate(at: time), rate > 0 else { return nil }
        return max(0, left) / rate
    }
}
