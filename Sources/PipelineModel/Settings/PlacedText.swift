/// Text assembled from lines of a file. Remembers the position of each character in the file.
struct PlacedText {
    private struct Part {
        var offset: Int
        var line: Int
        var column: Int
    }

    private(set) var text = ""
    private var parts: [Part] = []

    /// Appends text that starts at `column` of `line`.
    mutating func append(_ more: some StringProtocol, line: Int, column: Int) {
        parts.append(Part(offset: text.count, line: line, column: column))
        text += more
    }

    /// Line and column of the character at `offset`, counted from 1. `offset` may also be the end of the text.
    func place(at offset: Int) -> (line: Int, column: Int) {
        guard let part = parts.last(where: { $0.offset <= offset }) ?? parts.first else { return (1, offset + 1) }
        return (part.line, part.column + offset - part.offset)
    }

    /// A part of the text, without surrounding whitespace. Its characters keep their positions in the file.
    func trimmed(from start: Int, to end: Int? = nil) -> PlacedText {
        let characters = Array(text)[start..<(end ?? text.count)]
        let first = characters.firstIndex { !$0.isWhitespace } ?? characters.endIndex
        let last = characters.lastIndex { !$0.isWhitespace }.map { $0 + 1 } ?? first
        var result = PlacedText()
        result.text = String(characters[first..<last])
        result.parts = parts.filter { $0.offset > first && $0.offset < last }.map {
            Part(offset: $0.offset - first, line: $0.line, column: $0.column)
        }
        let (line, column) = place(at: first)
        result.parts.insert(Part(offset: 0, line: line, column: column), at: 0)
        return result
    }
}
