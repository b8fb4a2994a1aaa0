/// An SQL statement, or a part of a statement, with the values of its parameters. An interpolated value becomes a
/// parameter, and an interpolated `SQL` becomes a part of the statement. The text can come only from literals, because
/// it is a `StaticString`.
struct SQL: ExpressibleByStringInterpolation, StringInterpolationProtocol, Sendable {
    enum Value: Sendable {
        case null
        case integer(Int)
        case real(Double)
        case text(String)
    }

    /// The text as bytes, which are faster to append and to compare than characters.
    private(set) var bytes: [UInt8] = []
    private(set) var values: [Value] = []

    var text: String { String(decoding: bytes, as: UTF8.self) }

    init(literalCapacity: Int, interpolationCount: Int) {
        bytes.reserveCapacity(literalCapacity + interpolationCount)
        values.reserveCapacity(interpolationCount)
    }

    init(stringInterpolation: SQL) { self = stringInterpolation }

    init(stringLiteral: StaticString) { appendLiteral(stringLiteral) }

    mutating func appendLiteral(_ literal: StaticString) {
        bytes += UnsafeBufferPointer(start: literal.utf8Start, count: literal.utf8CodeUnitCount)
    }

    mutating func appendInterpolation(_ part: SQL) {
        bytes += part.bytes
        values += part.values
    }

    mutating func appendInterpolation(_ value: (some SQLValue)?) {
        appendLiteral("?")
        values.append(value?.bound ?? .null)
    }

    /// A list becomes the subquery of its elements, as in `id IN \(ids)`. The list is passed as JSON in one parameter,
    /// so that the statement is the same for any number of elements.
    mutating func appendInterpolation(_ list: [some JSONWritten]) {
        var line = JSONLine()
        line.list(list)
        let text = String(decoding: line.bytes, as: UTF8.self)
        appendInterpolation("(SELECT value FROM json_each(\(text)))" as SQL)
    }

    mutating func appendInterpolation(_ words: [some RawRepresentable<String>]) {
        appendInterpolation(words.map(\.rawValue))
    }

    /// Writes the number into the text, because the query plan depends on the number, or because the statement can't
    /// have parameters.
    mutating func appendInterpolation(literal number: Int) { bytes += number.description.utf8 }

    /// Writes the word into the text, because SQLite does not use a partial index if the condition contains a parameter
    /// instead of the word.
    mutating func appendInterpolation<Word: CaseIterable & RawRepresentable<String>>(literal word: Word) {
        bytes += "'\(word.rawValue)'".utf8
    }
}

extension [SQL] {
    /// Joins the parts; there must be at least one.
    func joined(by separator: SQL) -> SQL { dropFirst().reduce(self[0]) { "\($0)\(separator)\($1)" } }
}
