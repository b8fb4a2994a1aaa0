/// The values for the fields in a result's name. A field whose value is nil stays in the name as written: `{hash:8}`.
public struct NameFacts: Sendable, Hashable {
    /// The picture's file name, including its suffix.
    public var name: String?
    /// The picture's folder path below the inbox, or else the name of its batch; "" if it has neither.
    public var album: String?
    public var recipe: String?
    /// The name of the output or tee that makes the result; "" if it has no name.
    public var output: String?
    public var date: PictureDate?
    public var counter: Int?
    public var width: Int?
    public var height: Int?
    public var format: String?
    /// The full SHA-256 of the result, in hexadecimal.
    public var hash: String?

    public init() {}

    /// Splits a file name at its last dot. The suffix includes the dot. A dot at the very start does not begin a
    /// suffix.
    public static func split(_ name: String) -> (stem: String, suffix: String) {
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return (name, "") }
        return (String(name[..<dot]), String(name[dot...]))
    }
}

/// Helpers against double suffixes: a result made from `album.avif` is not named `album.avif.avif`.
extension String {
    func hasEnding(_ suffix: String) -> Bool { lowercased().hasSuffix(".\(suffix)") }

    public func withoutEnding(_ suffix: String) -> String {
        hasEnding(suffix) && utf8.count > suffix.utf8.count + 1 ? String(dropLast(suffix.count + 1)) : self
    }
}
