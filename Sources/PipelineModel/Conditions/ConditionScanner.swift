/// Parses conditions. `and` binds closer than `or`, and `not` closer than both.
struct ConditionScanner {
    private struct Token {
        var text: String
        /// Counted from 1.
        var column: Int
        var isQuoted = false

        func isWord(_ word: String) -> Bool { !isQuoted && text == word }
    }

    /// Limits on the comparisons and the nested parentheses of one condition.
    private static let (mostComparisons, mostNested) = (100, 20)

    private var tokens: ArraySlice<Token>
    /// The column after the last character of the text.
    private let end: Int
    private var comparisons = 0
    private var depth = 0

    private init(_ text: String) throws(Refusal) {
        tokens = try Self.tokens(of: Array(text))[...]
        end = text.count + 1
    }

    static func term(of text: String) throws(Refusal) -> Condition.Term {
        var scanner = try ConditionScanner(text)
        let term = try scanner.alternatives()
        if let rest = scanner.tokens.first {
            throw Refusal(
                "has '\(rest.text)' where it should end", advice: "put 'and' or 'or' between two comparisons",
                column: rest.column)
        }
        return term
    }

    private static func tokens(of text: [Character]) throws(Refusal) -> [Token] {
        var (tokens, at): ([Token], Int) = ([], 0)
        while at < text.count {
            let start = at
            let character = text[at]
            at += 1
            if character.isWhitespace { continue }
            if character == "\"" {
                guard let close = text[at...].firstIndex(of: "\"") else {
                    throw Refusal("has a quotation mark without its partner", column: start + 1)
                }
                tokens.append(Token(text: String(text[at..<close]), column: start + 1, isQuoted: true))
                at = close + 1
                continue
            }
            if "<>!=".contains(character) {
                if at < text.count, text[at] == "=" { at += 1 }
            } else if !"()".contains(character) {
                while at < text.count, !text[at].isWhitespace, !"()<>!=\"".contains(text[at]) { at += 1 }
            }
            tokens.append(Token(text: String(text[start..<at]), column: start + 1))
        }
        return tokens
    }

    private mutating func alternatives() throws(Refusal) -> Condition.Term {
        var terms = [try conjunction()]
        while take("or") { terms.append(try conjunction()) }
        return terms.count == 1 ? terms[0] : .any(terms)
    }

    private mutating func conjunction() throws(Refusal) -> Condition.Term {
        var terms = [try factor()]
        while take("and") { terms.append(try factor()) }
        return terms.count == 1 ? terms[0] : .all(terms)
    }

    private mutating func factor() throws(Refusal) -> Condition.Term {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.mostNested else {
            throw Refusal("has more than \(Self.mostNested) nested parentheses", column: tokens.first?.column)
        }
        if take("not") { return .not(try factor()) }
        guard let open = tokens.first, take("(") else { return try comparison() }
        let term = try alternatives()
        guard take(")") else { throw Refusal("has a '(' without a ')'", column: open.column) }
        return term
    }

    private mutating func comparison() throws(Refusal) -> Condition.Term {
        comparisons += 1
        guard comparisons <= Self.mostComparisons else {
            throw Refusal("has more than \(Self.mostComparisons) comparisons", column: tokens.first?.column)
        }
        let names = Fact.allCases.map(\.rawValue)
        guard let name = tokens.popFirst() else {
            throw Refusal("lacks a comparison", advice: "write one, as rating >= 3", column: end)
        }
        guard let fact = Fact(rawValue: name.text), !name.isQuoted else {
            throw Refusal(
                "has the unknown fact '\(name.text)'", advice: suggestion(for: name.text, among: names),
                column: name.column)
        }
        let operators = Comparison.Operator.allCases.map(\.rawValue).joined(separator: " ")
        guard let comparator = tokens.first.flatMap({ Comparison.Operator(rawValue: $0.text) }) else {
            throw Refusal(
                "has no comparison after '\(fact)'", advice: "write one of \(operators)",
                column: tokens.first?.column ?? end)
        }
        tokens.removeFirst()
        guard let value = tokens.popFirst(), value.isQuoted || !["(", ")", "and", "or"].contains(value.text) else {
            throw Refusal("has no value after '\(fact) \(comparator.rawValue)'", column: end)
        }
        do throws(Refusal) {
            return .comparison(try Comparison(fact, comparator, value.text))
        } catch {
            throw Refusal(error.complaint, advice: error.advice, column: value.column)
        }
    }

    private mutating func take(_ word: String) -> Bool {
        guard tokens.first?.isWord(word) == true else { return false }
        tokens.removeFirst()
        return true
    }
}
