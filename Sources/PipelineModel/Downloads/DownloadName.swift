/// Chooses the file name of a download: the name that the server sent, or else a name made from the URL. Neither name
/// is trusted, so the name is sanitised: it becomes a single visible file name without characters that reorder or hide
/// text.
public enum DownloadName {
    /// Maximum length in bytes. It leaves room for added numbers and suffixes within the file system's limit.
    public static let longest = 200

    public static func name(said: String?, url: WebAddress) -> String {
        // Dashes replace the host's dots. Otherwise the last part of the host would look like a suffix, and the name of
        // the result would lack that part.
        said.flatMap(named) ?? named(url.lastPart) ?? named(url.host.replacing(".", with: "-")) ?? "download"
    }

    /// Checks a name that a user has given.
    static func given(_ name: String) throws(Refusal) -> String {
        let safe = safe(name)
        guard safe == name else {
            let advice = safe.isEmpty ? "write one such as harbour.jpg" : "'\(safe)' would be"
            throw Refusal("has a name that is not a plain file name", advice: advice)
        }
        return name
    }

    /// The name that the user has given, or else the download's name, `said`. If only `said` has a picture's suffix,
    /// the given name gets that suffix.
    public static func given(_ name: String?, else said: String) -> String {
        guard let name else { return said }
        let suffix = NameFacts.split(said).suffix
        guard !isPicture(NameFacts.split(name).suffix), isPicture(suffix) else { return name }
        return shortened(name + suffix)
    }

    private static func isPicture(_ suffix: String) -> Bool { Recipe.pictures.contains("*\(suffix.lowercased())") }

    private static func named(_ text: String) -> String? {
        let name = safe(text)
        return name.isEmpty ? nil : name
    }

    /// Sanitises a name. Returns "" if no character is left.
    static func safe(_ text: String) -> String {
        if isPlain(text) { return text }
        let last = text.split(whereSeparator: { $0 == "/" || $0 == "\\" }).last ?? ""
        let visible = last.unicodeScalars.filter { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: false
            default: scalar != "/" && scalar != "\\"
            }
        }
        // Leading dots would hide the file, a leading dash would look like an option, and spaces at the ends are
        // misleading.
        var name = String(String.UnicodeScalarView(visible))[...]
        name = name.drop { $0 == "." || $0 == "-" || $0 == "~" || $0.isWhitespace }
        while let last = name.last, last.isWhitespace || last == "." || last == "~" { name.removeLast() }
        return shortened(String(name))
    }

    /// Whether the name consists of letters and digits, with `.`, `-` or `_` only in between. Most names are like this,
    /// and need no sanitising.
    private static func isPlain(_ text: String) -> Bool {
        let marks = [UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_")]
        guard let first = text.utf8.first, let last = text.utf8.last, text.utf8.count <= longest else { return false }
        return first.isLetterOrDigit && last.isLetterOrDigit
            && text.utf8.allSatisfy { $0.isLetterOrDigit || marks.contains($0) }
    }

    /// Shortens a name that is too long by cutting the end of its stem, and keeps its suffix.
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
