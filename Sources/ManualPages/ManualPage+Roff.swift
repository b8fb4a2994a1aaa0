extension ManualPage {
    /// The page in roff with `man` macros, as man(1) reads it. The text is ASCII.
    public func roff(version: String, date: String) -> String {
        let head = [
            ".TH \(Self.escaped(name.uppercased())) \(section) \(date) \"pipelined \(version)\" pipelined",
            // Readers copy options from the page, so roff must not hyphenate words or justify lines.
            ".nh", ".ad l", ".SH NAME",
        ]
        let body = parts.enumerated().flatMap { index, part in
            Self.lines(part, afterHeading: index > 0 && parts[index - 1].isHeading)
        }
        return (head + Self.filled("\(name) - \(summary)") + body).joined(separator: "\n") + "\n"
    }

    private static func lines(_ part: Part, afterHeading: Bool) -> [String] {
        // After a heading, roff begins a paragraph on its own.
        let paragraph = afterHeading ? [] : [".PP"]
        return switch part {
        case .section(let title): [".SH \(escaped(title))"]
        case .heading(let title): [".SS \(escaped(title))"]
        case .paragraph(let text): paragraph + filled(text)
        case .entry(let term, let value, let text):
            [".TP", (term.isEmpty ? "" : bold(term)) + (value.isEmpty ? "" : "\\fI\(escaped(value))\\fP")]
                + filled(text)
        case .lines(let lines): paragraph + [".nf", ".RS 4"] + lines.map { line(escaped($0)) } + [".RE", ".fi"]
        }
    }

    /// Sets text between backquotes in bold, and breaks lines at a readable length.
    private static func filled(_ text: String) -> [String] {
        let parts = text.split(separator: "`", omittingEmptySubsequences: false).enumerated()
        let marked = parts.map { $0.offset % 2 == 1 ? bold(String($0.element)) : escaped(String($0.element)) }.joined()
        var lines = [""]
        for word in marked.split(separator: " ") {
            let last = lines[lines.count - 1]
            if last.isEmpty || last.count + 1 + word.count <= 78 {
                lines[lines.count - 1] += (last.isEmpty ? "" : " ") + word
            } else {
                lines.append(String(word))
            }
        }
        return lines.map(line)
    }

    private static func bold(_ text: String) -> String { "\\fB\(escaped(text))\\fP" }

    /// Protects a dot or an apostrophe at the start of a line, which roff would read as an instruction.
    private static func line(_ roff: String) -> String {
        roff.first == "." || roff.first == "'" ? "\\&\(roff)" : roff
    }

    /// Escapes characters so that they appear unchanged. Without an escape, roff would replace some ASCII characters
    /// with typographic characters. It accepts characters beyond ASCII only by their numbers.
    private static func escaped(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "") { roff, scalar in
            switch scalar {
            case "\\": roff += "\\e"
            case "-": roff += "\\-"
            case "'": roff += "\\(aq"
            case "`": roff += "\\(ga"
            case "^": roff += "\\(ha"
            case "~": roff += "\\(ti"
            case "\n": roff += " "
            case _ where scalar.isASCII: roff.unicodeScalars.append(scalar)
            default:
                let digits = String(scalar.value, radix: 16, uppercase: true)
                roff += "\\[u\(String(repeating: "0", count: max(0, 4 - digits.count)))\(digits)]"
            }
        }
    }
}

extension ManualPage.Part {
    fileprivate var isHeading: Bool {
        switch self {
        case .section, .heading: true
        case .paragraph, .entry, .lines: false
        }
    }
}
