import CTurboJPEG
import CVips

/// Reads a JPEG's own luma with TurboJPEG at a fraction of its size: no chroma, no colour conversion, no full-size
/// pixel.
enum GreyJPEG {
    /// Whether the file is stored as luma with or without chroma: CMYK and RGB files have no luma. Nil when the header
    /// goes on behind these bytes.
    static func isPossible(_ start: [UInt8]) -> Bool? {
        guard let decoder = tjInitDecompress() else { return false }
        defer { tjDestroy(decoder) }
        guard let space = JPEGHeader(decoder, start)?.space else { return nil }
        return space == Int32(TJCS_YCbCr.rawValue) || space == Int32(TJCS_GRAY.rawValue)
    }

    /// One band in memory; nil when the file is not whole, or anything else is odd: then libvips decodes it.
    static func decode(_ bytes: [UInt8], shrink: Int) -> Picture? {
        guard let decoder = tjInitDecompress() else { return nil }
        defer { tjDestroy(decoder) }
        guard let header = JPEGHeader(decoder, bytes) else { return nil }
        let width = (header.width + Int32(shrink) - 1) / Int32(shrink)
        let height = (header.height + Int32(shrink) - 1) / Int32(shrink)
        return Picture.grey(width, height) { pixels in
            tjDecompress2(
                decoder, bytes, UInt(bytes.count), pixels, width, width, height, Int32(TJPF_GRAY.rawValue),
                TJFLAG_STOPONWARNING | TJFLAG_LIMITSCANS) == 0
        }
    }
}
