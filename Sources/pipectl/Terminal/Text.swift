import PipelineControl

/// A line for people. Whatever is put into it from elsewhere is made printable on the way, so that no file's name can drive the
/// terminal; only its own literals are taken as they are.
struct Text: ExpressibleByStringInterpolation, Sendable {
    struct Span: Sendable {
        var text: String
        var style: Style
    }

    private(set) var spans: [Span] = []

    init() {}

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

    /// At most `limit` columns wide: the widest spans give way, in their middles.
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
