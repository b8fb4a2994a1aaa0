/// A result, as reported by the worker that wrote it.
public struct RenderedOutput: Codable, Sendable, Hashable {
    public var format: String
    public var width: Int
    public var height: Int
    /// Number of frames of an animation; 1 for a still picture. Nil in records of older versions.
    public var pages: Int?
    public var bands: Int
    public var bytes: Int64
    /// Data that the recipe wants to keep but the result's format can't store: "IPTC", "XMP of 6291480 bytes", "16 bits
    /// a sample". Nil if the result lost nothing.
    public var lost: [String]?
    /// Parts of the original that no result keeps: "video", "C2PA manifest". Nil if there are none.
    public var dropped: [String]?
    /// Whether the result has the picture's gain map, in words: "with gain map 504 × 378", "without gain map: webp
    /// can't hold it". Nil if the picture has no gain map, or if the result is not meant to have it.
    public var gainMap: String?
    /// The SHA-256 of the file in hexadecimal, if the name template uses `{hash}`.
    public var hash: String?

    /// The file name suffix for a format: `jpg`, `png`, `webp`, `tif`, `avif`, `gif` or `jxl`.
    public static func suffix(of format: String) -> String {
        switch format {
        case "jpeg": "jpg"
        case "tiff": "tif"
        default: format
        }
    }

    public init(
        format: String, width: Int, height: Int, pages: Int? = 1, bands: Int, bytes: Int64, lost: [String]? = nil,
        dropped: [String] = [], hash: String? = nil
    ) {
        (self.format, self.width, self.height, self.pages) = (format, width, height, pages)
        (self.bands, self.bytes, self.lost, self.hash) = (bands, bytes, lost, hash)
        self.dropped = dropped.isEmpty ? nil : dropped
    }
}
