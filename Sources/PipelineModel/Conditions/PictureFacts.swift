/// Facts about a picture that conditions compare. A fact that the file does not have is nil.
public struct PictureFacts: Sendable, Hashable, Codable {
    /// Maximum length of a text, and maximum number of keywords. Workers cut longer texts and drop further keywords,
    /// which a hostile file may contain.
    public static let (longestText, mostKeywords) = (200, 500)

    public var format: String
    /// The upright picture's size.
    public var width: Int
    public var height: Int
    public var pages: Int
    public var rating: Int?
    public var label: String?
    public var keywords: [String] = []
    public var camera: String?
    public var lens: String?
    public var iso: Int?
    public var date: PictureDate?
    /// Whether the picture has a gain map, which makes it brighter on HDR screens.
    public var isHDR = false

    public init(format: String, width: Int, height: Int, pages: Int) {
        (self.format, self.width, self.height, self.pages) = (format, width, height, pages)
    }
}

/// The place of a picture. `folder` is the picture's folder below the inbox, or else the name of its batch. `name` is
/// its file name.
public struct PicturePlace: Sendable, Hashable {
    public var folder: String
    public var name: String

    public init(folder: String, name: String) { (self.folder, self.name) = (folder, name) }
}
