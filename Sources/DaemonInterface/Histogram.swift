/// Counts durations, in seconds, by upper bound, and keeps their sum.
package struct Histogram: Sendable, Equatable {
    /// The bounds cover all render times, from a small picture's thumbnail to an AVIF of a hundred megapixels.
    static let bounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800]

    package private(set) var sum = 0.0
    /// The number of durations in each bucket. A duration belongs to the first bound that it does not exceed. The last
    /// bucket has the durations that exceed every bound.
    private var counts = [Int](repeating: 0, count: bounds.count + 1)

    package mutating func add(_ seconds: Double) {
        // If the clock was set back, a negative duration must not reduce the sum.
        let seconds = max(0, seconds)
        sum += seconds
        counts[Self.bounds.firstIndex { seconds <= $0 } ?? Self.bounds.count] += 1
    }

    package var count: Int { counts.reduce(0, +) }

    /// Number of durations that do not exceed each bound.
    package var cumulative: [(bound: Double, count: Int)] {
        var sum = 0
        return zip(Self.bounds, counts).map { bound, count in
            sum += count
            return (bound, sum)
        }
    }
}
