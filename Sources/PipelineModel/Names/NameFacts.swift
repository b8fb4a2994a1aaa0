/// The facts about a result when it gets its name. The field of an unknown one stays in the name as it was written.
public struct NameFacts: Sendable, Hashable {
    /// The picture's file name, with its suffix.
    public var name: String?
    /// Folders of the inbox, with `/` between them, or a batch's name; "" for neither.
    public var album: String?
    public var recipe: String?
    /// The name of the output or the tee; "" for none.
    public var output: String?
    public var date: PictureDate?
    public var counter: Int?
    public var width: Int?
    public var height: Int?
    public var format: String?
    /// All digits of the hash.
    public var hash: String?

    public init() {}

    /// Before and behind the last dot, which stays with the suffix. A dot at the beginning is the name's own.
    public static func split(_ name: String) -> (stem: String, suffix: String) {
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return (name, "") }
        return (String(name[..<dot]), String(name[dot...]))
    }
}

/// A suffix is written once: what was made of `album.avif` is not `album.avif.avif`.
extension String {
    func hasEnding(_ suffix: String) -> Bool { lowercased().hasSuffix(".\(suffix)") }

    public func withoutEnding(_ suffix: String) -> String {
        hasEnding(suffix) && utf8.count > suffix.utf8.count + 1 ? String(dropLast(suffix.count + 1)) : self
    }
}
