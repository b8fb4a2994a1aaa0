/// Saturating arithmetic, so that absurd figures from a broken daemon don't crash this program.
extension Int {
    /// The nearest `Int`; for a value out of range, the largest or smallest `Int`.
    init(nearest value: Double) {
        self = Int(exactly: value.rounded()) ?? (value < 0 ? .min : .max)
    }
}

extension Int {
    /// The excess over `other`, or 0.
    func beyond(_ other: Int) -> Int {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (self > other ? .max : 0) : Swift.max(0, difference)
    }
}

extension Sequence<Int> {
    /// The sum, or the largest or smallest number when it overflows.
    var sum: Int {
        reduce(0) { sum, next in
            let (result, overflow) = sum.addingReportingOverflow(next)
            return overflow ? (next < 0 ? .min : .max) : result
        }
    }
}
