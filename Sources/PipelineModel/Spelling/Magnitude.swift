/// The meaning of the suffixes `K`, `M`, `G` and `T`: powers of 1024 for bytes, powers of 1000 for pixels.
enum Magnitude: Int64 {
    case pixels = 1000
    case bytes = 1024

    private static let suffixes: [Character] = ["K", "M", "G", "T"]

    /// Parses a whole number with an optional suffix; nil if it is invalid or too large.
    func number(_ text: String) -> Int64? {
        guard let last = text.last else { return nil }
        let power = Self.suffixes.firstIndex(of: last)
        let digits = power == nil ? text[...] : text.dropLast()
        guard digits.allSatisfy({ $0.isASCII && $0.isNumber }), var number = Int64(digits) else { return nil }
        for _ in 0..<(power.map { $0 + 1 } ?? 0) {
            let (product, overflow) = number.multipliedReportingOverflow(by: rawValue)
            guard !overflow else { return nil }
            number = product
        }
        return number
    }

    /// The number in the form that `number(_:)` reads, with the largest suffix that represents it exactly.
    func text(_ number: Int64) -> String {
        var (number, suffix) = (number, "")
        for next in Self.suffixes where number != 0 && number.isMultiple(of: rawValue) {
            number /= rawValue
            suffix = String(next)
        }
        return "\(number)\(suffix)"
    }
}
