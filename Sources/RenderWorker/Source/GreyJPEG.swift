import CTurboJPEG
import CVips
import Glibc

/// A JPEG's own luma, decoded by TurboJPEG at a fraction of its size: no chroma, no colour conversion, no full-size pixel.
enum GreyJPEG {
    /// Whether the file is stored as luma with or without chroma: CMYK and RGB ones have no luma to take.
    static func isPossible(_ bytes: [UInt8]) -> Bool {
        guard let decoder = tjInitDecompress() else { return false }
        defer { tjDestroy(decoder) }
        var header = Header()
        return header.read(decoder, bytes)
            && (header.space == Int32(TJCS_YCbCr.rawValue) || header.space == Int32(TJCS_GRAY.rawValue))
    }

    /// One band in memory; nil when the file is not whole, or anything else is odd: libvips' way decides then.
    static func decode(_ bytes: [UInt8], shrink: Int) -> Picture? {
        guard let decoder = tjInitDecompress() else { return nil }
        defer { tjDestroy(decoder) }
        var header = Header()
        guard header.read(decoder, bytes) else { return nil }
        let width = (Int(header.width) + shrink - 1) / shrink
        let height = (Int(header.height) + shrink - 1) / shrink
        guard let image = vips_image_new_memory() else { return nil }
        let picture = Picture(owning: image)
        vips_image_init_fields(
            image, Int32(width), Int32(height), 1, VIPS_FORMAT_UCHAR, VIPS_CODING_NONE, VIPS_INTERPRETATION_B_W, 1, 1)
        guard vips_image_write_prepare(image) == 0, let pixels = image.pointee.data else {
            vips_error_clear()
            return nil
        }
        let status = tjDecompress2(
            decoder, bytes, UInt(bytes.count), pixels, Int32(width), Int32(width), Int32(height),
            Int32(TJPF_GRAY.rawValue), TJFLAG_STOPONWARNING)
        return status == 0 ? picture : nil
    }

    private struct Header {
        // Read can return 0 with these unset.
        var width: Int32 = 0
        var height: Int32 = 0
        var subsampling: Int32 = -1
        var space: Int32 = -1

        mutating func read(_ decoder: tjhandle, _ bytes: [UInt8]) -> Bool {
            tjDecompressHeader3(decoder, bytes, UInt(bytes.count), &width, &height, &subsampling, &space) == 0
                && width > 0 && height > 0
        }
    }
}
