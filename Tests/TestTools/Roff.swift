/// The text of a manual page without markup, in one long line, because a sentence may be broken anywhere.
public func plainText(ofPage roff: String) -> String {
    let lines = roff.split(separator: "\n").filter { !$0.hasPrefix(".") || $0.hasPrefix(".S") }
    var text = lines.joined(separator: " ")
    for (escape, plain) in [
        ("\\fB", ""), ("\\fI", ""), ("\\fP", ""), ("\\&", ""), ("\\-", "-"), ("\\(aq", "'"), ("\\(ga", "`"),
        ("\\(ha", "^"),
        ("\\(ti", "~"), ("\\e", "\\"),
    ] {
        text = text.replacing(escape, with: plain)
    }
    return text.replacing(/\\\[u([0-9A-F]+)\]/) { match in
        Int(match.1, radix: 16).flatMap(Unicode.Scalar.init).map { String(Character($0)) } ?? ""
    }
}

/// A help text, normalised for comparison with a page: no marks, and at most one space between words.
public func plainText(ofHelp help: String) -> String {
    help.replacing("`", with: "").split(whereSeparator: \.isWhitespace).joined(separator: " ")
}
