extension NameTemplate {
    /// The file system's limit for a name, in bytes.
    static let longest = 255
    /// Separators between fields. An empty field is removed together with its separator.
    private static let separators: Set<Unicode.Scalar> = ["-", "_", ".", " "]

    /// The result's path relative to the outbox. No value can lead out of the outbox: slashes in values are replaced,
    /// except between the folders of an album, and no name starts with a dot. A `number` other than 0 is appended to
    /// the name, to distinguish it from existing files.
    public func path(_ facts: NameFacts, number: Int = 0, suffix: String) -> String {
        let ending = (number == 0 ? "" : "-\(number)")
        var names: [String] = []
        for (index, component) in components.enumerated() {
            let isLast = index == components.count - 1
            if !isLast, component == [.field(.album)], let album = facts.album {
                let folders = album.unicodeScalars.split(separator: "/").map { [Piece(value: String($0))] }
                names += folders.map { Self.name($0, ending: "") }
                continue
            }
            let pieces = Self.withoutEmpty(component.map { $0.piece(facts) })
            if isLast {
                names.append(Self.fileName(pieces, ending: ending, suffix: suffix))
            } else if !pieces.allSatisfy(\.text.isEmpty) {
                names.append(Self.name(pieces, ending: ""))
            }
        }
        return names.joined(separator: "/")
    }

    /// Whether the file name would be empty, apart from its suffix.
    public func isNameless(_ facts: NameFacts) -> Bool {
        Self.withoutEmpty((components.last ?? []).map { $0.piece(facts) }).allSatisfy(\.text.isEmpty)
    }

    private static func fileName(_ pieces: [Piece], ending: String, suffix: String) -> String {
        var pieces = pieces
        let whole = pieces.map(\.text).joined()
        if let last = pieces.indices.last, pieces[last].text.hasEnding(suffix), whole.utf8.count > suffix.utf8.count + 1
        {
            pieces[last].text = String(pieces[last].text.dropLast(suffix.count + 1))
        }
        return name(pieces, ending: "\(ending).\(suffix)")
    }

    /// Drops each empty piece along with the separators before it. At the start of the name, drops the separators after
    /// the empty piece instead.
    private static func withoutEmpty(_ pieces: [Piece]) -> [Piece] {
        var result: [Piece] = []
        var dropsSeparators = false
        for var piece in pieces {
            if piece.text.isEmpty {
                if result.isEmpty {
                    dropsSeparators = true
                } else if let last = result.last, last.isLiteral {
                    result[result.count - 1].text = String(
                        String.UnicodeScalarView(
                            last.text.unicodeScalars.reversed().drop(while: separators.contains).reversed()))
                }
                continue
            }
            if dropsSeparators, piece.isLiteral {
                piece.text = String(
                    String.UnicodeScalarView(piece.text.unicodeScalars.drop(while: separators.contains)))
            }
            if piece.text.isEmpty { continue }
            dropsSeparators = false
            result.append(piece)
        }
        return result
    }

    /// Joins the pieces and the ending into a name without a leading dot. If the name is too long, shortens the longest
    /// values.
    private static func name(_ pieces: [Piece], ending: String) -> String {
        var pieces = pieces
        while true {
            let length = pieces.reduce(ending.utf8.count) { $0 + $1.text.utf8.count }
            guard length > longest,
                let index = pieces.indices.filter({ pieces[$0].isShortened && !pieces[$0].text.isEmpty }).max(by: {
                    pieces[$0].text.utf8.count < pieces[$1].text.utf8.count
                })
            else { break }
            pieces[index].shorten(by: length - longest)
        }
        // Dropping or shortening a value may have left a dot at the start.
        hideNothing(&pieces)
        let name = pieces.map(\.text).joined()
        return (name.isEmpty ? "_" : name) + ending
    }

    /// Replaces leading dots with `_`. Otherwise the name would be hidden, or be `..` and lead to another folder.
    private static func hideNothing(_ pieces: inout [Piece]) {
        for index in pieces.indices {
            let scalars = pieces[index].text.unicodeScalars
            let dots = scalars.prefix { $0 == "." }.count
            pieces[index].text =
                String(repeating: "_", count: dots)
                + String(String.UnicodeScalarView(scalars.dropFirst(dots)))
            if dots < scalars.count { break }
        }
    }
}

extension NameTemplate {
    /// A part of a name, with its field filled in.
    fileprivate struct Piece {
        var text: String
        /// Whether the text is literal text of the template.
        var isLiteral = false
        /// Whether the text may be shortened if the name is too long. Numbers and dates are never shortened, because
        /// they distinguish names.
        var isShortened = false

        init(literal: String) { (text, isLiteral) = (literal, true) }

        init(fixed: String) { text = fixed }

        /// Sanitises an untrusted value, so that it contains no slash and no control character.
        init(value: String) {
            isShortened = true
            text = ""
            for scalar in value.unicodeScalars {
                let isSafe = scalar != "/" && scalar.properties.generalCategory != .control
                text.unicodeScalars.append(isSafe ? scalar : scalar == "/" ? "-" : "_")
            }
        }

        /// Removes at least this many bytes from the end, without splitting a character.
        mutating func shorten(by bytes: Int) {
            let wanted = max(0, text.utf8.count - bytes)
            while text.utf8.count > wanted { text.removeLast() }
        }
    }
}

extension NameTemplate.Part {
    fileprivate func piece(_ facts: NameFacts) -> NameTemplate.Piece {
        func value(_ value: String?, _ field: NameField) -> NameTemplate.Piece {
            value.map { .init(value: $0) } ?? .init(fixed: "{\(field.rawValue)}")
        }
        func fixed(_ value: String?, _ written: String) -> NameTemplate.Piece { .init(fixed: value ?? written) }
        return switch self {
        case .text(let text): .init(literal: text)
        case .date(let format): fixed(facts.date.map(format.text), "{date:\(format.text)}")
        case .counter(let digits):
            fixed(facts.counter.map { $0.padded(to: digits) }, digits == 1 ? "{counter}" : "{counter:\(digits)}")
        case .hash(let digits): fixed(facts.hash.map { String($0.prefix(digits)) }, "{hash:\(digits)}")
        case .field(let field):
            switch field {
            case .stem: value(facts.name.map { NameFacts.split($0).stem }, field)
            case .name: value(facts.name, field)
            case .album: value(facts.album, field)
            case .recipe: value(facts.recipe, field)
            case .output: value(facts.output, field)
            case .width: fixed(facts.width.map(String.init), "{width}")
            case .height: fixed(facts.height.map(String.init), "{height}")
            case .format: fixed(facts.format, "{format}")
            case .date, .counter, .hash: .init(fixed: "")
            }
        }
    }
}
