import CJPEGPlanes
import CTurboJPEG
import PipelineModel

/// Decodes a JPEG to its stored planes, at full or reduced size, and encodes planes as a JPEG, both without converting
/// colours.
enum JPEGPlanes {
    /// Nil when the file is truncated or unusual in any other way; libvips then decodes it.
    static func decode(_ bytes: [UInt8], shrink: Int, withColours: Bool, by decoder: JPEGDecoder = .own) -> Planes? {
        guard let turbo = tjInitDecompress() else { return nil }
        defer { tjDestroy(turbo) }
        guard let header = JPEGHeader(turbo, bytes), let room = Room(header, shrink: shrink, withColours: withColours)
        else { return nil }
        let isDecoded = decoder == .own && bytes.count >= leastLength && room.decodeCommon(bytes)
        return isDecoded || room.decode(bytes, by: turbo) ? room.planes : nil
    }

    /// Decodes with CJPEGPlanes, even a short file. Nil if CJPEGPlanes refuses the file.
    static func decodeCommon(_ bytes: [UInt8], shrink: Int, withColours: Bool) -> Planes? {
        guard let header = JPEGHeader(bytes), let room = Room(header, shrink: shrink, withColours: withColours) else {
            return nil
        }
        return room.decodeCommon(bytes) ? room.planes : nil
    }

    /// Whether CJPEGPlanes decodes an undamaged file that begins with these bytes.
    static func isCommon(_ start: [UInt8], length: Int) -> Bool {
        length >= leastLength && jpeg_planes_can_decode(start, start.count)
    }

    /// For shorter files, CJPEGPlanes would spend more time on building its tables than its faster decoding saves.
    private static let leastLength = 8 << 10

    /// Memory for the planes of a picture.
    private struct Room {
        private let width: Int
        private let height: Int
        private let shrink: Int
        private let luma: Plane
        private let colours: [Plane]
        private let shared: Planes.Subsampling
        private let exactSize: (width: Double, height: Double)

        /// Nil if memory can't be allocated, or if the colours can't be decoded as planes.
        init?(_ header: JPEGHeader, shrink: Int, withColours: Bool) {
            self.shrink = shrink
            width = (Int(header.width) + shrink - 1) / shrink
            height = (Int(header.height) + shrink - 1) / shrink
            exactSize = (Double(header.width) / Double(shrink), Double(header.height) / Double(shrink))
            guard let shared = withColours ? header.sharedColours : Planes.Subsampling.none else { return nil }
            self.shared = shared
            // TurboJPEG writes whole groups of pixels that share a chroma sample, even if a group extends beyond the
            // picture's edge.
            let size = shared.size(width, height)
            guard let luma = Plane(size.width * shared.across, size.height * shared.down) else { return nil }
            self.luma = luma
            colours = withColours ? (0..<2).compactMap { _ in Plane(size.width, size.height) } : []
            guard !withColours || colours.count == 2 else { return nil }
        }

        func decodeCommon(_ bytes: [UInt8]) -> Bool {
            func plane(_ plane: Plane, _ width: Int, _ height: Int) -> jpeg_plane {
                jpeg_plane(samples: plane.bytes, stride: plane.stride, width: Int32(width), height: Int32(height))
            }
            let planes = [plane(luma, width, height)] + colours.map { plane($0, $0.width, $0.height) }
            return jpeg_planes_decode(bytes, bytes.count, Int32(shrink), planes, Int32(planes.count))
        }

        func decode(_ bytes: [UInt8], by turbo: tjhandle) -> Bool {
            let flags = TJFLAG_STOPONWARNING | TJFLAG_LIMITSCANS
            guard !colours.isEmpty else {
                return tjDecompress2(
                    turbo, bytes, UInt(bytes.count), luma.bytes, Int32(width), Int32(luma.stride), Int32(height),
                    Int32(TJPF_GRAY.rawValue), flags) == 0
            }
            let all = [luma] + colours
            var planes: [UnsafeMutablePointer<UInt8>?] = all.map(\.bytes)
            var strides = all.map { Int32($0.stride) }
            return tjDecompressToYUVPlanes(
                turbo, bytes, UInt(bytes.count), &planes, Int32(width), &strides, Int32(height), flags) == 0
        }

        var planes: Planes {
            Planes(
                luma: luma.cut(width, height), colours: colours, shared: shared, range: .full, exactSize: exactSize)
        }
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
