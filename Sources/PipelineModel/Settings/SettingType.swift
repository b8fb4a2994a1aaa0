/// How a setting's value is parsed and written.
struct SettingType<Value: Sendable>: Sendable {
    /// The valid values, in words, for the manual.
    let values: String
    /// Parses a value. `before` is the setting's previous value, to which lists append.
    let read: @Sendable (_ text: String, _ before: Value) throws(Refusal) -> Value
    let write: @Sendable (Value) -> String
    /// Whether the value is a secret, which messages must not repeat.
    let isSecret: Bool

    init(
        values: String, isSecret: Bool = false,
        read: @escaping @Sendable (_ text: String, _ before: Value) throws(Refusal) -> Value,
        write: @escaping @Sendable (Value) -> String
    ) {
        (self.values, self.isSecret, self.read, self.write) = (values, isSecret, read, write)
    }
}

extension SettingType<Duration> {
    static func duration(_ range: ClosedRange<Duration>) -> Self {
        let allowed = "\(range.lowerBound.text) to \(range.upperBound.text)"
        return Self(values: "a time, \(allowed)") { text, _ throws(Refusal) in
            guard let duration = Duration(text: text) else {
                throw Refusal("is not a time", advice: "write it like 500ms, 5s, 10min or 1h")
            }
            guard range.contains(duration) else { throw Refusal.outOfRange(allowed) }
            return duration
        } write: {
            $0.text
        }
    }
}

extension SettingType<Int64> {
    static func magnitude(_ magnitude: Magnitude, _ range: ClosedRange<Int64>) -> Self {
        let allowed = "\(magnitude.text(range.lowerBound)) to \(magnitude.text(range.upperBound))"
        return Self(values: allowed) { text, _ throws(Refusal) in
            guard let number = magnitude.number(text) else {
                throw Refusal("is not a number", advice: "write it like \(magnitude.text(range.lowerBound)) or 268M")
            }
            guard range.contains(number) else { throw Refusal.outOfRange(allowed) }
            return number
        } write: {
            magnitude.text($0)
        }
    }
}

extension SettingType<Int> {
    static func count(_ range: ClosedRange<Int>) -> Self {
        let allowed = "\(range.lowerBound) to \(range.upperBound)"
        return Self(values: allowed) { text, _ throws(Refusal) in
            guard let number = Int(text) else { throw Refusal("is not a whole number") }
            guard range.contains(number) else { throw Refusal.outOfRange(allowed) }
            return number
        } write: {
            "\($0)"
        }
    }
}

extension SettingType<QueueLimit> {
    private static let allowed = "auto or \(QueueLimit.range.lowerBound) to \(QueueLimit.range.upperBound)"

    static let limit = Self(values: allowed) { text, _ throws(Refusal) in
        guard let limit = QueueLimit(text) else {
            throw Int(text) == nil
                ? Refusal("is not a number", advice: "it may be \(allowed)") : Refusal.outOfRange(allowed)
        }
        return limit
    } write: {
        $0.description
    }
}

extension SettingType where Value: RawRepresentable<String> & CaseIterable {
    /// A single value of an enumeration, written as its raw value.
    static var word: Self {
        Self(values: Value.allCases.map(\.rawValue).alternatives) { text, _ throws(Refusal) in
            guard let value = Value(rawValue: text) else {
                throw Refusal("is unknown", advice: suggestion(for: text, among: Value.allCases.map(\.rawValue)))
            }
            return value
        } write: {
            $0.rawValue
        }
    }
}

extension SettingType {
    /// Any number of values of an enumeration, written as raw values with spaces between them.
    static func some<Word>() -> Self
    where Value == Set<Word>, Word: RawRepresentable<String> & CaseIterable & Sendable {
        let all = Word.allCases.map(\.rawValue)
        return Self(values: "some of \(all.joined(separator: ", "))") { text, _ throws(Refusal) in
            var chosen: Set<Word> = []
            for part in text.split(whereSeparator: \.isWhitespace).map(String.init) {
                guard let word = Word(rawValue: part) else {
                    throw Refusal("has '\(part)' in it", advice: suggestion(for: part, among: all))
                }
                chosen.insert(word)
            }
            return chosen
        } write: { chosen in
            Word.allCases.filter(chosen.contains).map(\.rawValue).joined(separator: " ")
        }
    }
}

extension SettingType<String> {
    static let text = Self(values: "a text") { text, _ throws(Refusal) in
        text
    } write: {
        $0
    }
}

extension SettingType<String?> {
    static let text = Self(values: "a text") { text, _ throws(Refusal) in
        text
    } write: {
        $0 ?? ""
    }

    /// A folder's path, absolute or relative, without `..`. Redundant slashes and dots are removed.
    static let folder = Self(values: "a folder") { text, _ throws(Refusal) in
        let parts = text.split(separator: "/").filter { $0 != "." }
        guard !parts.contains("..") else {
            throw Refusal("has '..' in it", advice: "name a folder below, or an absolute one")
        }
        guard parts.first?.first != "~" else {
            throw Refusal("begins with '~', which only a shell knows", advice: "write the whole path")
        }
        return (text.hasPrefix("/") ? "/" : "") + parts.joined(separator: "/")
    } write: {
        $0 ?? ""
    }
}

extension SettingType<String?> {
    /// The absolute path of a program. PATH is not searched.
    static let program = Self(values: "an absolute path") { text, _ throws(Refusal) in
        guard text.isEmpty || text.hasPrefix("/") else {
            throw Refusal("is not an absolute path", advice: "write it like /usr/local/bin/announce, without arguments")
        }
        return text.isEmpty ? nil : text
    } write: {
        $0 ?? ""
    }
}

extension SettingType<[String]?> {
    /// Space-separated words; quotes enclose a word with spaces. Each assignment appends to the list.
    static let words = Self(values: "words") { text, before throws(Refusal) in
        guard let words = text.words else { throw Refusal("has an unclosed quote", advice: "close it") }
        return (before ?? []) + words
    } write: {
        ($0 ?? []).map { $0.contains(" ") ? "\"\($0)\"" : $0 }.joined(separator: " ")
    }
}
