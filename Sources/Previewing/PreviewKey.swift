import SystemCalls

/// Identifies a preview of a picture. The file name includes the picture's identity, so a picture that replaces another
/// has previews of its own.
struct PreviewKey: Sendable, Hashable {
    var job: Int
    /// From 1; 0 is the original.
    var result: Int
    /// The longest side, in pixels.
    var size: Int
    /// The identity of the picture that the preview shows.
    var picture: FileStatus.Identity

    static let suffix = ".webp"

    var fileName: String {
        "\(job)-\(result)-\(size)-\(picture.inode)-\(picture.size)-\(picture.modified)\(Self.suffix)"
    }

    /// The same key for previews of all sizes.
    var ofAnySize: PreviewKey {
        var key = self
        key.size = 0
        return key
    }
}
