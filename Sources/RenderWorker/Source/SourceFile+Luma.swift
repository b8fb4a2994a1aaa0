extension SourceFile {
    /// The header lies behind EXIF and profile, which rarely need more than the first of these, and hardly ever more than the second.
    private static let headerLengths = [1 << 16, 1 << 20]

    /// Whether its luma can be decoded without its colours.
    var storesLuma: Bool {
        get throws {
            switch format {
            case .jpeg: try Self.headerLengths.contains { GreyJPEG.isPossible(try bytes($0)) }
            case .webp: try Self.headerLengths.contains { GreyWebP.isPossible(try bytes($0)) }
            case .png, .tiff, .gif, .heif, .avif: false
            }
        }
    }

    /// That luma, in memory; nil when anything about the file is odd.
    func storedLuma(shrink: Int) throws -> Picture? {
        format == .webp
            ? GreyWebP.decode(try bytes(), shrink: shrink) : GreyJPEG.decode(try bytes(), shrink: shrink)
    }
}
