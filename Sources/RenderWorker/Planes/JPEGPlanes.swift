import CTurboJPEG

/// Decodes a JPEG to its stored planes, at full or reduced size, and encodes planes as a JPEG, both without converting
/// colours.
enum JPEGPlanes {
    /// Nil when the file is truncated or unusual in any other way; libvips then decodes it.
    static func decode(_ bytes: [UInt8], shrink: Int, withColours: Bool) -> Planes? {
        guard let decoder = tjInitDecompress() else { return nil }
        defer { tjDestroy(decoder) }
        guard let header = JPEGHeader(decoder, bytes) else { return nil }
        let width = (Int(header.width) + shrink - 1) / shrink, height = (Int(header.height) + shrink - 1) / shrink
        let exactSize = (Double(header.width) / Double(shrink), Double(header.height) / Double(shrink))
        let flags = TJFLAG_STOPONWARNING | TJFLAG_LIMITSCANS
        guard withColours else {
            guard let luma = Plane(width, height) else { return nil }
            let status = tjDecompress2(
                decoder, bytes, UInt(bytes.count), luma.bytes, Int32(width), Int32(luma.stride), Int32(height),
                Int32(TJPF_GRAY.rawValue), flags)
            guard status == 0 else { return nil }
            return Planes(luma: luma, colours: [], shared: .none, range: .full, exactSize: exactSize)
        }
        guard let shared = header.sharedColours else { return nil }
        // TurboJPEG writes whole groups of pixels that share a chroma sample, even if a group extends beyond the
        // picture's edge.
        let size = shared.size(width, height)
        guard let luma = Plane(size.width * shared.across, size.height * shared.down),
            let blue = Plane(size.width, size.height), let red = Plane(size.width, size.height)
        else { return nil }
        var planes: [UnsafeMutablePointer<UInt8>?] = [luma.bytes, blue.bytes, red.bytes]
        var strides = [luma, blue, red].map { Int32($0.stride) }
        let status = tjDecompressToYUVPlanes(
            decoder, bytes, UInt(bytes.count), &planes, Int32(width), &strides, Int32(height), flags)
        guard status == 0 else { return nil }
        return Planes(
            luma: luma.cut(width, height), colours: [blue, red], shared: shared, range: .full, exactSize: exactSize)
    }

    /// A JPEG of full-range planes; nil when they can't be encoded. Chroma is subsampled 2 × 2, or not at all.
    static func encode(_ planes: Planes, quality: Int32, isProgressive: Bool) -> [UInt8]? {
        guard let encoder = tjInitCompress() else { return nil }
        defer { tjDestroy(encoder) }
        let (width, height) = (planes.width, planes.height)
        let count = planes.shared.size(width, height)
        let (across, down) = (count.width * planes.shared.across, count.height * planes.shared.down)
        guard let luma = planes.luma.extended(to: across, down) else { return nil }
        let all = [luma] + planes.colours
        var pointers: [UnsafePointer<UInt8>?] = all.map { UnsafePointer($0.bytes) }
        let strides = all.map { Int32($0.stride) }
        let kind = planes.colours.isEmpty ? TJSAMP_GRAY : planes.shared == .none ? TJSAMP_444 : TJSAMP_420
        var (result, length) = (UnsafeMutablePointer<UInt8>?.none, UInt(0))
        defer { tjFree(result) }
        let status = withExtendedLifetime(all) {
            tjCompressFromYUVPlanes(
                encoder, &pointers, Int32(width), strides, Int32(height), Int32(kind.rawValue), &result, &length,
                quality, TJFLAG_ACCURATEDCT | (isProgressive ? TJFLAG_PROGRESSIVE : 0))
        }
        guard status == 0, let result else { return nil }
        return Array(UnsafeBufferPointer(start: result, count: Int(length)))
    }
}
