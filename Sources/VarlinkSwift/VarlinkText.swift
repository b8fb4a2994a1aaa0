/// A parsed `.varlink` file, in the subset of Varlink that this project uses: types, methods and errors. The comment of
/// each of these, and of each field, is directly above it.
struct VarlinkText {
    struct Member {
        var kind: Substring
        var name: String
        var comment: [String]
        /// The fields of a type, or the parameters of a method or error.
        var fields: [Field]
        var reply: [Field] = []
    }

    struct Field {
        var name: String
        var type: Substring
        var comment: [String]
    }

    struct Problem: Error, CustomStringConvertible {
        var line: Int
        var description: String
    }

    private(set) var name = ""
    private(set) var members: [Member] = []

    init(_ text: String) throws(Problem) {
        var comment: [String] = []
        var rest = text[...]
        while let first = rest.first {
            if let line = rest.prefixMatch(of: /# ?(.*)\n/) {
                comment.append(String(line.1))
                rest = rest[line.range.upperBound...]
                continue
            }
            if let start = rest.prefixMatch(of: /interface +([a-zA-Z0-9.]+)\n/) {
                name = String(start.1)
                rest = rest[start.range.upperBound...]
            } else if let found = rest.prefixMatch(of: Self.member) {
                let (_, kind, name, fields, reply) = found.output
                guard (kind == "method") == (reply != nil) else {
                    throw Self.problem("a method has a reply; types and errors have none", at: rest, of: text)
                }
                members.append(
                    Member(
                        kind: kind, name: String(name), comment: comment, fields: try Self.fields(fields, of: text),
                        reply: try Self.fields(reply ?? "", of: text)))
                rest = rest[found.range.upperBound...]
            } else if first.isWhitespace {
                rest = rest.dropFirst()
            } else {
                throw Self.problem("VarlinkSwift can't parse this as a type, method or error", at: rest, of: text)
            }
            // A comment belongs only to the member directly below it.
            comment = []
        }
    }

    private static var member: Regex<(Substring, Substring, Substring, Substring, Substring?)> {
        // The parentheses may contain comments, which may contain parentheses of their own.
        /(type|method|error) +([A-Z]\w*) *\(((?:#.*|[^)#])*)\)(?: *-> *\(((?:#.*|[^)#])*)\))? *\n/
    }

    private static func fields(_ list: Substring, of text: String) throws(Problem) -> [Field] {
        var fields: [Field] = []
        var rest = list.drop(while: \.isWhitespace)
        while !rest.isEmpty {
            guard let field = rest.prefixMatch(of: /((?:#.*\n\s*)*)(\w+) *: *([^\s,]+)\s*(?:,\s*|$)/) else {
                throw problem("'\(rest.prefix { $0 != "," })' is not a field", at: rest, of: text)
            }
            let comment = field.1.matches(of: /# ?(.*)\n/).map { String($0.1) }
            fields.append(Field(name: String(field.2), type: field.3, comment: comment))
            rest = rest[field.range.upperBound...]
        }
        return fields
    }

    private static func problem(_ words: String, at place: Substring, of text: String) -> Problem {
        Problem(line: text[..<place.startIndex].count { $0 == "\n" } + 1, description: words)
    }
}
