/// A comparison of a fact with a value, such as `rating >= 3`.
struct Comparison: Hashable {
    enum Operator: String, CaseIterable {
        case equal = "=", unequal = "!=", less = "<", notMore = "<=", more = ">", notLess = ">="

        /// The verb in the explanation of a comparison that is met: `rating 4 is at least 3`.
        var words: String {
            switch self {
            case .equal: "is"
            case .unequal: "is not"
            case .less: "is below"
            case .notMore: "is at most"
            case .more: "is above"
            case .notLess: "is at least"
            }
        }

        var opposite: Operator {
            switch self {
            case .equal: .unequal
            case .unequal: .equal
            case .less: .notLess
            case .notMore: .more
            case .more: .notMore
            case .notLess: .less
            }
        }

        func isMet<Value: Comparable>(_ left: Value, _ right: Value) -> Bool {
            switch self {
            case .equal: left == right
            case .unequal: left != right
            case .less: left < right
            case .notMore: left <= right
            case .more: left > right
            case .notLess: left >= right
            }
        }
    }

    let fact: Fact
    let comparator: Operator
    let wanted: String

    /// Throws a refusal without a column; the scanner adds the column.
    init(_ fact: Fact, _ comparator: Operator, _ wanted: String) throws(Refusal) {
        (self.fact, self.comparator) = (fact, comparator)
        let isOrdered = comparator != .equal && comparator != .unequal
        switch fact.kind {
        case .number:
            guard let number = Double(wanted), number.isFinite else {
                throw Refusal(
                    "compares '\(fact)' with '\(wanted)'", advice: "write a number, as \(fact) \(comparator.rawValue) 3"
                )
            }
            self.wanted = wanted
        case .date:
            guard Self.isDate(wanted) else {
                throw Refusal(
                    "compares 'date' with '\(wanted)'",
                    advice: "write a year, a month or a day, as 2026, 2026-11 or 2026-11-28")
            }
            self.wanted = wanted
        case .word(let words):
            guard words.contains(wanted.lowercased()) else {
                throw Refusal("compares '\(fact)' with '\(wanted)'", advice: suggestion(for: wanted, among: words))
            }
            self.wanted = wanted.lowercased()
        case .text: self.wanted = wanted
        }
        if isOrdered, fact.kind != .number, fact.kind != .date {
            throw Refusal("has '\(comparator.rawValue)' after '\(fact)', which has no order", advice: "use = or !=")
        }
    }

    private static func isDate(_ text: String) -> Bool {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        return (1...3).contains(parts.count)
            && zip(parts, [4, 2, 2]).allSatisfy { part, length in
                part.utf8.count == length
                    && part.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            }
    }

    /// A picture without the fact meets only `!=`.
    func verdict(_ facts: PictureFacts, _ place: PicturePlace) -> Condition.Verdict {
        switch fact.value(facts, place) {
        case nil: Condition.Verdict(isMet: comparator == .unequal, words: "the picture has no \(fact)")
        case .number(let number):
            verdict(comparator.isMet(number, Double(wanted) ?? 0), "\(fact) \(Self.text(number))")
        case .texts(let texts) where fact.kind == .date:
            // `date = 2026-11` is met by each day of the month, and `date > 2026-11` by none.
            verdict(comparator.isMet(String(texts[0].prefix(wanted.count)), wanted), "date \(texts[0])")
        case .texts(let texts):
            any(of: texts)
        }
    }

    private func verdict(_ isMet: Bool, _ subject: String) -> Condition.Verdict {
        let words = (isMet ? comparator : comparator.opposite).words
        return Condition.Verdict(isMet: isMet, words: "\(subject) \(words) \(wanted)")
    }

    private func any(of texts: [String]) -> Condition.Verdict {
        let pattern = Glob(wanted)
        let match = texts.first(where: pattern.matches)
        let isMet = (match != nil) == (comparator == .equal)
        let words =
            match.map { "\(fact) is '\($0)'" }
            ?? (texts.count == 1 ? "\(fact) '\(texts[0])' is not \(wanted)" : "no \(fact) is \(wanted)")
        return Condition.Verdict(isMet: isMet, words: words)
    }

    /// The number, rounded to two decimals. A whole number has no `.0`.
    private static func text(_ number: Double) -> String {
        let rounded = (number * 100).rounded() / 100
        return rounded == rounded.rounded() ? "\(Int64(rounded))" : "\(rounded)"
    }
}

extension PictureDate {
    /// The day, in the form 2026-11-28.
    var dayText: String { "\(year.padded(to: 4))-\(month.padded(to: 2))-\(day.padded(to: 2))" }
}
