/// What a manual page says, without its markup, in one long line: what a test looks for may be broken anywhere.
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

/// The same for what it is to be compared with: without marks, with one space at most between words.
public func plainText(ofHelp help: String) -> String {
    help.replacing("`", with: "").split(whereSeparator: \.isWhitespace).joined(separator: " ")
}
