/// Returns the text of a manual page without markup, as one long line, so that line breaks don't matter in comparisons.
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

/// Returns the text of a help page, normalised for comparison with a manual page: no backquotes, and single spaces.
public func plainText(ofHelp help: String) -> String {
    help.replacing("`", with: "").split(whereSeparator: \.isWhitespace).joined(separator: " ")
}
