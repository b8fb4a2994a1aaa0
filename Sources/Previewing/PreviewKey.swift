import SystemCalls

/// Identifies a preview. The file name includes the identity of the previewed picture, so a replaced picture gets new
/// previews.
struct PreviewKey: Sendable, Hashable {
    var job: Int
    /// The number of the result, from 1; 0 means the original.
    var result: Int
    /// The longest side, in pixels.
    var size: Int
    /// The identity of the picture that the preview shows.
    var picture: FileStatus.Identity

    static let suffix = ".webp"

    var fileName: String {
        "\(job)-\(result)-\(size)-\(picture.inode)-\(picture.size)-\(picture.modified)\(Self.suffix)"
    }

    /// The key with size 0, which stands for the previews of all sizes.
    var ofAnySize: PreviewKey {
        var key = self
        key.size = 0
        return key
    }
}
