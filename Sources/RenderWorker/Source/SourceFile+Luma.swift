extension SourceFile {
    /// The header lies behind EXIF and profile, which rarely need more than the first length, and hardly ever more than
    /// the second.
    private static let headerLengths = [1 << 16, 1 << 20]

    /// Whether its luma can be decoded without its colours.
    var storesLuma: Bool {
        get throws {
            guard format == .jpeg || format == .webp else { return false }
            for length in Self.headerLengths {
                let start = try bytes(length)
                if let known = format == .webp ? GreyWebP.isPossible(start) : GreyJPEG.isPossible(start) {
                    return known
                }
            }
            return false
        }
    }

    /// The way in which it shares the colours of its planes; nil when it has none, or they are not read as they are.
    var sharedColours: Planes.Subsampling? {
        guard format == .jpeg else { return nil }
        return Self.headerLengths.lazy.compactMap { try? JPEGPlanes.subsampling(bytes($0)) }.first
    }

    /// The stored luma, in memory; nil when anything about the file is odd.
    func storedLuma(shrink: Int) throws -> Picture? {
        format == .webp
            ? GreyWebP.decode(try bytes(), shrink: shrink) : GreyJPEG.decode(try bytes(), shrink: shrink)
    }
}
