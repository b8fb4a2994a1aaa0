/// Parses a file in systemd's INI dialect: `[Section]`, `Key=value`, `#` and `;` comments, lines continued by a `\`.
struct SectionedText {
    struct Section {
        var header: String
        var line: Int
        var assignments: [Assignment] = []
    }

    struct Assignment {
        var key: String
        var value: PlacedText
        var line: Int
    }

    private(set) var sections: [Section] = []
    private(set) var problems: [Problem] = []

    init(_ file: ConfigurationText) {
        // True below an invalid section header. The header has been reported, so its assignments are skipped silently.
        var belongsNowhere = false
        for statement in Self.statements(file.text) {
            let line = statement.place(at: 0).line
            if statement.text.hasPrefix("[") {
                let header = statement.text.dropFirst().dropLast().trimmed
                belongsNowhere = !statement.text.hasSuffix("]") || header.isEmpty
                if belongsNowhere {
                    report("'\(statement.text)' is not a section; write [Name]", file, line)
                } else {
                    sections.append(Section(header: header, line: line))
                }
                continue
            }
            guard let equals = Array(statement.text).firstIndex(of: "="), equals > 0 else {
                // In a [Host] section the line may contain a secret, so the message must not repeat it.
                let isSecret = sections.last.map { HostLogin.host(ofSection: $0.header) != nil } ?? false
                report("\(isSecret ? "this" : "'\(statement.text)'") is not a setting; write Key=value", file, line)
                continue
            }
            let key = statement.trimmed(from: 0, to: equals).text
            if belongsNowhere { continue }
            guard !sections.isEmpty else {
                report("'\(key)' outside any section; write a line [Section] above it", file, line)
                continue
            }
            sections[sections.count - 1].assignments.append(
                Assignment(key: key, value: statement.trimmed(from: equals + 1), line: line))
        }
    }

    private mutating func report(_ message: String, _ file: ConfigurationText, _ line: Int) {
        problems.append(Problem(file: file.name, line: line, message: message))
    }

    /// The lines of the file, without comments and blank lines. Continued lines are joined.
    private static func statements(_ text: String) -> [PlacedText] {
        var statements: [PlacedText] = []
        var current = PlacedText()
        let withoutMark = text.unicodeScalars.first == "\u{FEFF}" ? String(text.unicodeScalars.dropFirst()) : text
        let lines = withoutMark.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
        for (number, line) in lines.enumerated() {
            let content = line.trimmed
            if content.hasPrefix("#") || content.hasPrefix(";") { continue }
            let indentation = line.prefix { $0.isWhitespace }.count
            // As in systemd.syntax(7), a line that ends in a backslash continues, and a space replaces the backslash. A
            // line that ends in two backslashes does not continue.
            let continues = content.reversed().prefix { $0 == "\\" }.count.isMultiple(of: 2) == false
            current.append(
                continues ? content.dropLast() + " " : content[...], line: number + 1, column: indentation + 1)
            if !continues {
                statements.append(current)
                current = PlacedText()
            }
        }
        statements.append(current)
        return statements.map { $0.trimmed(from: 0) }.filter { !$0.text.isEmpty }
    }
}
