/// What a download is called: by its server, else by its URL. Both are a stranger's word, so the name is made safe: it is one name, not a
/// path, visible, and nothing in it reorders or hides text.
public enum DownloadName {
    /// In bytes. With numbers and endings it is still a file's name.
    public static let longest = 200

    public static func name(said: String?, url: WebAddress) -> String {
        for candidate in [said, url.lastPart, url.host] {
            if let name = candidate.map(safe), !name.isEmpty { return name }
        }
        return "download"
    }

    /// "" when nothing is left.
    static func safe(_ text: String) -> String {
        let last = text.split(whereSeparator: { $0 == "/" || $0 == "\\" }).last ?? ""
        let visible = last.unicodeScalars.filter { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: false
            default: scalar != "/" && scalar != "\\"
            }
        }
        // Leading dots would hide it, a leading dash look like an option, and blanks at its ends mislead.
        var name = String(String.UnicodeScalarView(visible))[...]
        name = name.drop { $0 == "." || $0 == "-" || $0 == "~" || $0.isWhitespace }
        while let last = name.last, last.isWhitespace || last == "." || last == "~" { name.removeLast() }
        return shortened(String(name))
    }

    /// What is too long loses the end of its stem.
    private static func shortened(_ name: String) -> String {
        guard name.utf8.count > longest else { return name }
        var stem = name[...]
        var suffix = ""[...]
        if let dot = name.lastIndex(of: "."), dot != name.startIndex, name[dot...].utf8.count <= 20 {
            (stem, suffix) = (name[..<dot], name[dot...])
        }
        while stem.utf8.count + suffix.utf8.count > longest, !stem.isEmpty { stem.removeLast() }
        return String(stem + suffix)
    }
}
