public struct AddressList: Sendable, Hashable {
    public enum Kind: Sendable, Hashable {
        /// A `*.urls` file: one URL per line; `#` starts a comment. If the file has a header line, it is read as a
        /// table.
        case lines
        /// A `*.csv` or `*.tsv` file: a header line, and a row for each URL.
        case table
        /// A `*.url` file: a shortcut saved by a browser.
        case shortcut
    }

    public enum Entry: Sendable, Hashable {
        case address(WebAddress)
        /// A URL with further columns. Boxed (`indirect`) to keep the other entries small, because most entries have
        /// only a URL.
        indirect case row(WebAddress, ListRow)
        case wrong(line: Int, reason: String)
    }

    public private(set) var entries: [Entry]
    public let isTable: Bool

    /// The number of lines that are not URLs; in a table, the number of rows with mistakes.
    public var wrong: Int { entries.count { if case .wrong = $0 { true } else { false } } }

    public static func kind(of name: String) -> Kind? {
        let name = name.lowercased()
        if name.hasSuffix(".csv") || name.hasSuffix(".tsv") { return .table }
        return name.hasSuffix(".urls") ? .lines : name.hasSuffix(".url") ? .shortcut : nil
    }

    /// Parses the bytes of a list: UTF-8, or UTF-16 with a byte order mark. Throws if the bytes are not text, so that a
    /// file that was mistaken for a list does not become hundreds of failed jobs.
    public init(_ bytes: [UInt8], _ kind: Kind, most: Int) throws(Refusal) {
        let text = Self.text(bytes)
        let noText = Refusal("is not text", advice: "write one URL a line, in UTF-8 or UTF-16")
        guard !text.utf8.contains(0) else { throw noText }
        try self.init(text, kind, most: most)
        // Recognises a binary file without a NUL: it contains invalid UTF-8, and no valid entry.
        guard wrong < entries.count || !text.unicodeScalars.contains("\u{fffd}") else { throw noText }
    }

    private static func text(_ bytes: [UInt8]) -> String {
        let isLittle = bytes.starts(with: [0xff, 0xfe])
        guard isLittle || bytes.starts(with: [0xfe, 0xff]) else { return String(decoding: bytes, as: UTF8.self) }
        let units = stride(from: 2, to: bytes.count - 1, by: 2).map { index in
            let (first, second) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
            return isLittle ? second << 8 | first : first << 8 | second
        }
        return String(decoding: units, as: UTF16.self)
    }

    /// Parses the text of a list. Throws if it has more than `most` lines, or no entries.
    public init(_ text: String, _ kind: Kind, most: Int) throws(Refusal) {
        // Counts bytes instead of characters for speed, because the text may be long.
        let ends = text.utf8.count { $0 == 10 } + (text.utf8.last == 10 ? 0 : 1)
        guard ends <= most else {
            throw Refusal(
                "has \(ends) lines", advice: "\(most) are allowed: split it, or raise ListLines in [Download]")
        }
        let lines = text.utf8.split(separator: 10, omittingEmptySubsequences: false)
        isTable = kind == .table || kind == .lines && Self.begins(lines.lazy.map(Substring.init))
        entries =
            isTable
            ? try ListTable(text).entries
            : lines.enumerated().compactMap { Self.entry(Substring($1), $0 + 1, kind) }
        guard !entries.isEmpty else { throw Refusal("contains no URL", advice: "write one a line") }
    }

    /// Whether the first line, ignoring blank lines and comments, is a table's header.
    private static func begins(_ lines: some Sequence<Substring>) -> Bool {
        lines.first { !$0.withoutBlanks.isEmpty && $0.withoutBlanks.first != "#" }.map(ListTable.isHeader) ?? false
    }

    /// The recipes that are named in the list's rows.
    public var recipes: Set<String> {
        Set(entries.lazy.compactMap { if case .row(_, let row) = $0 { row.recipe } else { nil } })
    }

    /// Refuses each row whose recipe is a key in `reasons`, for the reason given there.
    public mutating func refuse(recipes reasons: [String: String]) {
        guard !reasons.isEmpty else { return }
        for (place, entry) in entries.enumerated() {
            guard case .row(_, let row) = entry, let reason = row.recipe.flatMap({ reasons[$0] }) else { continue }
            entries[place] = .wrong(line: row.line, reason: reason)
        }
    }

    private static func entry(_ line: Substring, _ number: Int, _ kind: Kind) -> Entry? {
        let text = line.withoutBlanks
        let address: Substring
        switch kind {
        case .lines:
            guard let first = text.first, first != "#" else { return nil }
            address = text
        case .table: return nil
        case .shortcut:
            guard let sign = text.firstIndex(of: "="), text[..<sign].withoutBlanks.lowercased() == "url" else {
                return nil
            }
            address = text[text.index(after: sign)...].withoutBlanks
        }
        do throws(Refusal) {
            return .address(try WebAddress(address))
        } catch {
            return .wrong(line: number, reason: reason(address, error))
        }
    }

    static func reason(_ address: Substring, _ refusal: Refusal) -> String {
        "'\(WebAddress.shown(address).prefix(200))' \(refusal.sentence)"
    }
}

extension StringProtocol {
    /// The text without surrounding whitespace, and without the byte order mark that some editors write.
    var withoutBlanks: SubSequence {
        func isBlank(_ character: Character) -> Bool { character.isWhitespace || character == "\u{feff}" }
        var text = drop(while: isBlank)
        while let last = text.last, isBlank(last) { text = text.dropLast() }
        return text
    }
}
