import PipelineControl
import SystemCalls

/// A line of output for people. It makes interpolated text printable, so that no file name can control the terminal.
/// Only string literals stay as they are.
struct Text: ExpressibleByStringInterpolation, Sendable {
    struct Span: Sendable {
        var text: String
        var style: Style
    }

    private(set) var spans: [Span] = []
    /// Whether the text is a file's name or a URL, which never wraps and is shortened in the middle.
    private(set) var isName = false

    init() {}

    static func name(_ name: String, _ style: Style = .plain) -> Text {
        var text = Text(name, style)
        text.isName = true
        return text
    }

    init(stringLiteral literal: String) {
        spans = literal.isEmpty ? [] : [Span(text: literal, style: .plain)]
    }

    init(stringInterpolation: Interpolation) {
        spans = stringInterpolation.spans
    }

    init(_ value: String, _ style: Style = .plain) {
        spans = value.isEmpty ? [] : [Span(text: value.printable, style: style)]
    }

    var isEmpty: Bool { spans.isEmpty }

    var columns: Int { spans.reduce(0) { $0 + $1.text.columns } }

    static func + (one: Text, other: Text) -> Text {
        var sum = one
        sum.spans += other.spans
        return sum
    }

    func rendered(color: Bool) -> String {
        spans.reduce(into: "") { line, span in
            if color, let code = span.style.code {
                line += "\u{1b}[\(code)m\(span.text)\u{1b}[0m"
            } else {
                line += span.text
            }
        }
    }

    /// Shortens the text to `limit` columns, in the middles of the widest spans.
    func shortened(to limit: Int) -> Text {
        var short = self
        while short.columns > limit {
            guard
                let widest = short.spans.indices.max(by: { short.spans[$0].text.columns < short.spans[$1].text.columns }
                )
            else { break }
            let width = short.spans[widest].text.columns
            let room = max(1, width - (short.columns - limit))
            guard room < width else { break }
            short.spans[widest].text = short.spans[widest].text.shortened(to: room)
        }
        return short
    }

    /// Wraps the text to lines of `width` columns, between words. A longer word is broken after a slash or a bar, or
    /// else anywhere. If there are more lines than `most`, an ellipsis ends the last line.
    func folded(to width: Int, most: Int = .max) -> [Text] {
        folded(to: width, most: most, hanging: 0, breaksWords: true)
    }

    /// The text in lines for a terminal of `width` columns. The lines after the first are indented a little more. A
    /// word that is longer than a line stays whole, so that it can be copied from the terminal.
    func wrapped(to width: Int) -> [Text] {
        guard columns > width else { return [self] }
        let start = plain.prefix { $0 == " " }.count
        return folded(to: width, most: .max, hanging: min(start + 2, width / 2), breaksWords: false)
    }

    /// The lines after the first begin with `hanging` spaces.
    private func folded(to width: Int, most: Int, hanging: Int, breaksWords: Bool) -> [Text] {
        let width = max(1, width)
        let start: Text = hanging > 0 ? Text(String(repeating: " ", count: hanging)) : Text()
        var lines: [Text] = []
        var line = Text()
        var hasWord = false
        for word in words {
            let length = word.trimmed.columns
            if hasWord, line.columns + length > width {
                lines.append(line.trimmed)
                (line, hasWord) = (start, false)
            }
            line.append(word)
            hasWord = hasWord || length > 0
            while breaksWords, line.trimmed.columns > width {
                let (head, tail) = line.broken(at: width)
                lines.append(head)
                line = start
                line.append(tail)
            }
            if lines.count >= most { return Array(lines.prefix(most - 1)) + [lines[most - 1].ended(within: width)] }
        }
        return lines + [line.trimmed]
    }

    /// The width in columns of the longest part that a line break never divides.
    var longestPart: Int {
        let parts = words.flatMap { $0.trimmed.plain.split(whereSeparator: Self.breaksBehind) }
        return parts.map { String($0).columns + 1 }.max() ?? 0
    }

    /// Whether a line may end after this character, within a word.
    private static func breaksBehind(_ character: Character) -> Bool { character == "/" || character == "|" }

    private var plain: String { spans.map(\.text).joined() }

    /// Cuts the text to `width` columns, with an ellipsis at the end.
    private func ended(within width: Int) -> Text {
        let head = split(at: width - 1).head
        return (head.columns < width ? head.trimmed : Text()) + "…"
    }

    /// Each word with the spaces that follow it. A number and its unit are one word, and so are a width and a height.
    private var words: [Text] {
        var words: [Text] = []
        var isOpen = false
        for span in spans {
            for character in span.text {
                if !isOpen { words.append(Text()) }
                words[words.count - 1].append(character, span.style)
                isOpen = character != " "
            }
        }
        return words.reduce(into: []) { words, word in
            let last = words.last?.trimmed.plain.last
            if last == "×" || word.trimmed.plain == "×" || last?.isNumber == true && word.isUnit, !words.isEmpty {
                words[words.count - 1].append(word)
            } else {
                words.append(word)
            }
        }
    }

    private static let units: Set<String> = ["B", "kB", "MB", "GB", "TB", "kP", "MP", "ms", "s", "min", "h", "d", "%"]

    private var isUnit: Bool { Self.units.contains(String(trimmed.plain.prefix { $0.isLetter || $0 == "%" })) }

    /// The text without spaces at its end.
    private var trimmed: Text {
        var text = self
        while let last = text.spans.last, last.text.hasSuffix(" ") {
            text.spans[text.spans.count - 1].text.removeLast()
            if last.text.count == 1 { text.spans.removeLast() }
        }
        return text
    }

    /// Splits a text that is wider than `width`, if possible after a slash or a bar.
    private func broken(at width: Int) -> (head: Text, tail: Text) {
        let parts = split(at: width)
        let head = parts.head.plain
        guard let last = head.lastIndex(where: Self.breaksBehind), last != head.startIndex else { return parts }
        return split(at: String(head[...last]).columns)
    }

    private func split(at column: Int) -> (head: Text, tail: Text) {
        var (head, tail) = (Text(), Text())
        var width = 0
        for span in spans {
            for character in span.text {
                width += String(character).columns
                // The head takes at least one character, even if that is wider than the column.
                if width <= column || head.isEmpty {
                    head.append(character, span.style)
                } else {
                    tail.append(character, span.style)
                }
            }
        }
        return (head, tail)
    }

    private mutating func append(_ text: Text) {
        for span in text.spans {
            if let last = spans.last, last.style == span.style {
                spans[spans.count - 1].text += span.text
            } else {
                spans.append(span)
            }
        }
    }

    private mutating func append(_ character: Character, _ style: Style) {
        if let last = spans.last, last.style == style {
            spans[spans.count - 1].text.append(character)
        } else {
            spans.append(Span(text: String(character), style: style))
        }
    }

    struct Interpolation: StringInterpolationProtocol {
        var spans: [Span] = []

        init(literalCapacity: Int, interpolationCount: Int) {}

        mutating func appendLiteral(_ literal: String) {
            if !literal.isEmpty { spans.append(Span(text: literal, style: .plain)) }
        }

        mutating func appendInterpolation(_ value: String, _ style: Style = .plain) {
            spans += Text(value, style).spans
        }

        mutating func appendInterpolation(_ value: Int, _ style: Style = .plain) {
            spans.append(Span(text: "\(value)", style: style))
        }

        mutating func appendInterpolation(_ value: Text) {
            spans += value.spans
        }
    }
}
