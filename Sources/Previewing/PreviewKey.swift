import SystemCalls

/// A preview of a picture. The name of its file says all of it, so a picture that replaces another has previews of its own.
struct PreviewKey: Sendable, Hashable {
    var job: Int
    /// From 1; 0 is the original.
    var result: Int
    /// The longest side, in pixels.
    var size: Int
    /// The picture that it is made of.
    var picture: FileStatus.Identity

    static let suffix = ".webp"

    var fileName: String {
        "\(job)-\(result)-\(size)-\(picture.inode)-\(picture.size)-\(picture.modified)\(Self.suffix)"
    }

    /// The same for all previews of the picture.
    var ofAnySize: PreviewKey {
        var key = self
        key.size = 0
        return key
    }
}
