import CTurboJPEG

/// A JPEG's header, as TurboJPEG reads it.
struct JPEGHeader {
    // TurboJPEG can return success without setting these fields.
    private(set) var width: Int32 = 0
    private(set) var height: Int32 = 0
    private var space: Int32 = -1
    private var subsampling: Int32 = -1

    /// Nil when the header is invalid, or extends beyond these bytes.
    init?(_ start: [UInt8]) {
        guard let decoder = tjInitDecompress() else { return nil }
        defer { tjDestroy(decoder) }
        self.init(decoder, start)
    }

    init?(_ decoder: tjhandle, _ bytes: [UInt8]) {
        let status = tjDecompressHeader3(
            decoder, bytes, UInt(bytes.count), &width, &height, &subsampling, &space)
        guard status == 0, width > 0, height > 0 else { return nil }
    }

    var bands: Int {
        switch UInt32(bitPattern: space) {
        case TJCS_GRAY.rawValue: 1
        case TJCS_CMYK.rawValue, TJCS_YCCK.rawValue: 4
        default: 3
        }
    }

    /// Whether the file stores luma, with or without colours. CMYK and RGB files have no luma.
    var storesLuma: Bool { space == Int32(TJCS_YCbCr.rawValue) || space == Int32(TJCS_GRAY.rawValue) }

    /// The file's chroma subsampling. Nil if the file has no chroma, or if the subsampling is unusual.
    var sharedColours: Planes.Subsampling? {
        guard space == Int32(TJCS_YCbCr.rawValue) else { return nil }
        return switch UInt32(bitPattern: subsampling) {
        case TJSAMP_444.rawValue: Planes.Subsampling(across: 1, down: 1)
        case TJSAMP_422.rawValue: Planes.Subsampling(across: 2, down: 1)
        case TJSAMP_420.rawValue: Planes.Subsampling(across: 2, down: 2)
        case TJSAMP_440.rawValue: Planes.Subsampling(across: 1, down: 2)
        case TJSAMP_411.rawValue: Planes.Subsampling(across: 4, down: 1)
        default: nil
        }
    }
}
