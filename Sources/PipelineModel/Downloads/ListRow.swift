/// A row of a list with columns, without the row's URL.
public struct ListRow: Sendable, Hashable {
    /// The number of the row's first line, counted from 1.
    public var line: Int
    public var texts = PictureTexts()
    /// The recipe for the picture; overrides the list's recipe.
    public var recipe: String?

    /// The columns that a list may have.
    enum Column: String, CaseIterable {
        case url, name, caption, credit, recipe
    }

    /// Checks and stores the text of a column other than `url`.
    mutating func take(_ text: String, in column: Column) throws(Refusal) {
        guard !text.isEmpty else { return }
        switch column {
        case .url: break
        case .name: texts.name = try DownloadName.given(text)
        case .caption: texts.caption = try PictureTexts.caption(text)
        case .credit: texts.credit = try PictureTexts.credit(text)
        case .recipe: recipe = text
        }
    }
}

/// Reads a list with columns: a header line, and a row for each URL. Commas, semicolons or tabs separate the fields.
/// Quotes enclose a field that contains a separator, a quote or a line break (RFC 4180).
struct ListTable {
    let entries: [AddressList.Entry]

    /// Whether the line is a header with a column `url`. A URL can't look like this.
    static func isHeader(_ line: Substring) -> Bool {
        var scanner = TableScanner(line)
        return scanner.row()?.fields.contains { $0.withoutBlanks.lowercased() == ListRow.Column.url.rawValue } ?? false
    }

    init(_ text: String) throws(Refusal) {
        var scanner = TableScanner(text[...])
        guard let header = scanner.next() else {
            throw Refusal("has no header", advice: "its first line names the columns, as in url,name,caption")
        }
        if let problem = header.problem {
            throw Refusal("has a first line that \(problem.complaint)", advice: "it names the columns, as in url,name")
        }
        let columns = try Self.columns(header.fields)
        var entries: [AddressList.Entry] = []
        while let row = scanner.next() { entries.append(Self.entry(row, columns)) }
        self.entries = entries
    }

    /// The header's columns; nil for a column without a name. Spreadsheets often append such columns.
    private static func columns(_ fields: [String]) throws(Refusal) -> [ListRow.Column?] {
        let known = ListRow.Column.allCases.map(\.rawValue)
        var columns: [ListRow.Column?] = []
        for name in fields.map({ $0.withoutBlanks.lowercased() }) {
            let column = ListRow.Column(rawValue: name)
            guard name.isEmpty || column != nil else {
                throw Refusal("has an unknown column '\(name.prefix(50))'", advice: suggestion(for: name, among: known))
            }
            guard column == nil || !columns.contains(column) else { throw Refusal("has the column '\(name)' twice") }
            columns.append(column)
        }
        guard columns.contains(.url) else {
            throw Refusal("has no column 'url'", advice: "its first line names the columns, as in url,name,caption")
        }
        return columns
    }

    private static func entry(_ row: TableScanner.Row, _ columns: [ListRow.Column?]) -> AddressList.Entry {
        do throws(Refusal) {
            if let problem = row.problem { throw problem }
            var read = ListRow(line: row.line)
            var url = ""
            for (place, field) in row.fields.enumerated() {
                let text = String(field.withoutBlanks)
                guard let column = place < columns.count ? columns[place] : nil else {
                    guard text.isEmpty else {
                        throw Refusal(
                            "has \(row.fields.count.counted("field")) for \(columns.count.counted("column"))",
                            advice: "put a text that has a separator in it between quotes")
                    }
                    continue
                }
                if column == .url { url = text } else { try read.take(text, in: column) }
            }
            guard !url.isEmpty else { throw Refusal("has no URL") }
            do throws(Refusal) {
                let address = try WebAddress(url)
                return read == ListRow(line: row.line) ? .address(address) : .row(address, read)
            } catch {
                return .wrong(line: row.line, reason: AddressList.reason(url[...], error))
            }
        } catch {
            return .wrong(line: row.line, reason: "the row \(error.sentence)")
        }
    }
}

/// Splits text into rows and fields.
struct TableScanner {
    struct Row {
        /// The number of the row's first line, counted from 1.
        var line: Int
        var fields: [String] = []
        /// Why the row can't be read. The other rows are still read.
        var problem: Refusal?
    }

    private static let (newline, quote, comment) = (UInt8(ascii: "\n"), UInt8(ascii: "\""), UInt8(ascii: "#"))

    /// Maximum fields per row, so that a row of nothing but separators takes little memory.
    private static let mostFields = 50
    private static let quoting = "write a quote within quotes as \"\""

    private let bytes: [UInt8]
    private let separator: UInt8
    private var at = 0
    private var line = 1

    init(_ text: Substring) {
        let mark = Array("\u{feff}".utf8)
        bytes = text.utf8.starts(with: mark) ? Array(text.utf8.dropFirst(mark.count)) : Array(text.utf8)
        // Column names contain no separators, so a tab or semicolon in the header is the separator.
        let lines = bytes.split(separator: Self.newline).lazy.map { $0.drop { $0 == 32 || $0 == 13 } }
        let header = lines.first { !$0.isEmpty && $0.first != Self.comment } ?? []
        separator = [UInt8(ascii: "\t"), UInt8(ascii: ";")].first(where: header.contains) ?? UInt8(ascii: ",")
    }

    /// The next row that is neither blank nor a comment.
    mutating func next() -> Row? {
        while at < bytes.count {
            if bytes[at...].first(where: { $0 != 32 }) == Self.comment {
                skipLine()
            } else if let row = row(), row.problem != nil || !row.fields.allSatisfy(\.withoutBlanks.isEmpty) {
                return row
            }
        }
        return nil
    }

    mutating func row() -> Row? {
        guard at < bytes.count else { return nil }
        var row = Row(line: line)
        let start = at
        while true {
            let isQuoted = bytes[at...].first { $0 != 32 } == Self.quote
            guard let field = isQuoted ? quoted() : plain() else {
                // The quote may be the only mistake, so reading continues in the next line.
                (at, line) = (start, row.line)
                skipLine()
                row.problem = Refusal("opens a quote and does not close it", advice: Self.quoting)
                return row
            }
            row.fields.append(field)
            guard row.fields.count <= Self.mostFields else {
                row.problem = Refusal("has more than \(Self.mostFields) fields")
                skipLine()
                return row
            }
            skipBlanks()
            guard at < bytes.count else { return row }
            if bytes[at] == separator {
                at += 1
                continue
            }
            if bytes[at] != Self.newline {
                row.problem = Refusal("has text after a closing quote", advice: Self.quoting)
            }
            skipLine()
            return row
        }
    }

    private mutating func plain() -> String? {
        let end = bytes[at...].firstIndex { $0 == separator || $0 == Self.newline } ?? bytes.count
        defer { at = end }
        return String(decoding: bytes[at..<end], as: UTF8.self)
    }

    /// Reads a field in quotes. Returns nil if the text ends before the closing quote.
    private mutating func quoted() -> String? {
        var field: [UInt8] = []
        at = (bytes[at...].firstIndex(of: Self.quote) ?? at) + 1
        while at < bytes.count {
            let byte = bytes[at]
            at += 1
            if byte == Self.newline { line += 1 }
            if byte == Self.quote {
                guard at < bytes.count, bytes[at] == Self.quote else { return String(decoding: field, as: UTF8.self) }
                at += 1
            }
            field.append(byte)
        }
        return nil
    }

    /// Skips blanks after a field, except tabs, because the tab may be the separator.
    private mutating func skipBlanks() {
        while at < bytes.count, [32, 13].contains(bytes[at]) { at += 1 }
    }

    private mutating func skipLine() {
        at = bytes[at...].firstIndex(of: Self.newline).map { $0 + 1 } ?? bytes.count
        line += 1
    }
}
