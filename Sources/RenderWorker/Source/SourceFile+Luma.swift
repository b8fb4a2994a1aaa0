import PipelineModel

extension SourceFile {
    /// Numbers of bytes to read from the start of the file, until the header is found. EXIF and the colour profile may
    /// precede the header. EXIF and the profile together are rarely longer than the first length, and almost never
    /// longer than the second.
    static let headerLengths = [1 << 16, 1 << 20]

    /// Planes that can be decoded as the file stores them.
    struct StoredPlanes {
        /// Luma can be decoded without the colours.
        var luma: Bool
        /// Chroma subsampling. Nil if there is no chroma, or if it can't be decoded as it is stored.
        var colours: Planes.Subsampling?
        /// Whether the worker decodes the planes itself, without libjpeg-turbo.
        var hasOwnDecoder = false
    }

    var storedPlanes: StoredPlanes {
        get throws {
            guard format == .jpeg || format == .webp else { return StoredPlanes(luma: false) }
            for length in Self.headerLengths {
                let start = try bytes(length)
                if format == .webp {
                    if let isPossible = WebPPlanes.isPossible(start) {
                        return StoredPlanes(luma: isPossible, colours: isPossible ? .quarter : nil)
                    }
                } else if let header = JPEGHeader(start) {
                    return StoredPlanes(
                        luma: header.storesLuma, colours: header.sharedColours,
                        hasOwnDecoder: decoders.jpeg == .own && JPEGPlanes.isCommon(start, length: size))
                }
            }
            return StoredPlanes(luma: false)
        }
    }
}
