/// A field of a recipe's `Name=` setting, which users write in braces: `{stem}`.
public enum NameField: String, Sendable, Hashable, CaseIterable {
    case stem, name, album, date, recipe, output, counter, width, height, format, hash

    /// An example of the field, as a user writes it.
    public var example: String {
        switch self {
        case .date: "{date:\(DateFormat.standard)}"
        case .counter: "{counter:4}"
        case .hash: "{hash:8}"
        default: "{\(rawValue)}"
        }
    }

    public var help: String {
        switch self {
        case .stem: "the picture's name without its suffix: harbour of harbour.jpg"
        case .name: "the picture's name with its suffix"
        case .album:
            "the path of the picture's folder below the inbox, or else the name of its batch; omitted if there is neither"
        case .date:
            "the day on which the picture was taken, according to EXIF, or else the date of its file; default: "
                + "\(DateFormat.standard). A format has \(DateFormat.Field.allCases.map { "\($0.rawValue) (\($0.help))" }.enumeration)"
        case .recipe: "the recipe's name"
        case .output: "the name of the output or the tee; if there is none, it is omitted with the character before it"
        case .counter:
            "a free number, padded to this many digits, 1 to \(NameTemplate.counters.upperBound); all results of a "
                + "picture get the same number"
        case .width: "the result's width in pixels"
        case .height: "the result's height in pixels"
        case .format: "the result's format: jpeg, png, webp, tiff, avif, gif or jxl"
        case .hash:
            "the first digits of the SHA-256 of the result's bytes, \(NameTemplate.hashes.lowerBound) to "
                + "\(NameTemplate.hashes.upperBound), in hexadecimal: different results get different names"
        }
    }
}
