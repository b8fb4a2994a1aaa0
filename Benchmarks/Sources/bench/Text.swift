/// Formats numbers for people.
enum Text {
    static func padded(_ number: Int, _ digits: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }

    /// Rounds to three significant digits.
    static func short(_ value: Double) -> String {
        switch abs(value) {
        case 100...: fixed(value, 0)
        case 10...: fixed(value, 1)
        default: fixed(value, 2)
        }
    }

    /// Formats a number as one would write it: `150`, `0.8`, `1.15`.
    static func plain(_ value: Double) -> String {
        fixed(value, (0...2).first { Double(fixed(value, $0)) == value } ?? 2)
    }

    static func fixed(_ value: Double, _ decimals: Int) -> String {
        guard value.isFinite else { return "–" }
        guard decimals > 0 else { return String(Int(value.rounded())) }
        let factor = (0..<decimals).reduce(1.0) { product, _ in product * 10 }
        let whole = Int((abs(value) * factor).rounded())
        let sign = value < 0 && whole > 0 ? "-" : ""
        return "\(sign)\(whole / Int(factor)).\(padded(whole % Int(factor), decimals))"
    }
}
