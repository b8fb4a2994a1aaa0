public struct AddressList: Sendable, Hashable {
    public enum Kind: Sendable, Hashable {
        /// A `*.urls` file: one URL per line; `#` starts a comment.
        case lines
        /// A `*.url` file: a shortcut saved by a browser.
        case shortcut
    }

    public enum Entry: Sendable, Hashable {
        case address(WebAddress)
        case wrong(line: Int, reason: String)
    }

    public let entries: [Entry]

    public static func kind(of name: String) -> Kind? {
        let name = name.lowercased()
        return name.hasSuffix(".urls") ? .lines : name.hasSuffix(".url") ? .shortcut : nil
    }

    /// Parses the text of a list. Throws if it has more than `most` lines, or no URL at all.
    public init(_ text: String, _ kind: Kind, most: Int) throws(Refusal) {
        // Counts bytes instead of characters for speed, because the text may be long.
        let ends = text.utf8.count { $0 == 10 } + (text.utf8.last == 10 ? 0 : 1)
        guard ends <= most else {
            throw Refusal(
                "has \(ends) lines", advice: "\(most) are allowed: split it, or raise ListLines in [Download]")
        }
        let lines = text.utf8.split(separator: 10, omittingEmptySubsequences: false)
        entries = lines.enumerated().compactMap { Self.entry(Substring($1), $0 + 1, kind) }
        guard !entries.isEmpty else { throw Refusal("has no URL in it", advice: "write one a line") }
    }

    private static func entry(_ line: Substring, _ number: Int, _ kind: Kind) -> Entry? {
        let text = line.trimmed
        let address: Substring
        switch kind {
        case .lines:
            guard let first = text.first, first != "#" else { return nil }
            address = text
        case .shortcut:
            guard let sign = text.firstIndex(of: "="), text[..<sign].trimmed.lowercased() == "url" else { return nil }
            address = text[text.index(after: sign)...].trimmed
        }
        do throws(Refusal) {
            return .address(try WebAddress(address))
        } catch {
            return .wrong(
                line: number, reason: "line \(number): '\(WebAddress.shown(address).prefix(200))' \(error.sentence)")
        }
    }
}

extension Substring {
    /// The line without surrounding whitespace, and without the byte order mark that some editors write.
    fileprivate var trimmed: Substring {
        func isBlank(_ character: Character) -> Bool { character.isWhitespace || character == "\u{feff}" }
        var text = drop(while: isBlank)
        while let last = text.last, isBlank(last) { text.removeLast() }
        return text
    }
}
