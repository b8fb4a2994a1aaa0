/// What is known about a result when it gets its name. The field of an unknown fact stays in the name as written.
public struct NameFacts: Sendable, Hashable {
    /// The picture's file name, including its suffix.
    public var name: String?
    /// Subfolders of the inbox, separated by `/`, or else the batch's name; "" if there is neither.
    public var album: String?
    public var recipe: String?
    /// The name of the output or tee; "" if it has none.
    public var output: String?
    public var date: PictureDate?
    public var counter: Int?
    public var width: Int?
    public var height: Int?
    public var format: String?
    /// The full hash, in hexadecimal.
    public var hash: String?

    public init() {}

    /// Splits at the last dot, which goes to the suffix. A leading dot belongs to the stem.
    public static func split(_ name: String) -> (stem: String, suffix: String) {
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return (name, "") }
        return (String(name[..<dot]), String(name[dot...]))
    }
}

/// Avoids a double suffix: a result made from `album.avif` is not named `album.avif.avif`.
extension String {
    func hasEnding(_ suffix: String) -> Bool { lowercased().hasSuffix(".\(suffix)") }

    public func withoutEnding(_ suffix: String) -> String {
        hasEnding(suffix) && utf8.count > suffix.utf8.count + 1 ? String(dropLast(suffix.count + 1)) : self
    }
}
