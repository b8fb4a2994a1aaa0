import CTurboJPEG
import CVips

/// Reads a JPEG's own luma with TurboJPEG at a fraction of its size: no chroma, no colour conversion, no full-size
/// pixel.
enum GreyJPEG {
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
