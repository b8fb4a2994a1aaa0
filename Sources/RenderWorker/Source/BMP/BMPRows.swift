import CVips
import Synchronization

/// Supplies the rows of a BMP to libvips, which may request them in any order.
final class BMPRows: Sendable {
    private let header: BMP
    private let bytes: SourceBytes
    private let size: Int
    /// The palette indices of a compressed picture, once they are decoded.
    private let indices = Mutex<[UInt8]?>(nil)

    private init(_ header: BMP, _ bytes: SourceBytes, size: Int) {
        (self.header, self.bytes, self.size) = (header, bytes, size)
    }

    static func picture(_ header: BMP, _ bytes: SourceBytes, size: Int) throws -> Picture {
        let rows = Unmanaged.passRetained(BMPRows(header, bytes, size: size)).toOpaque()
        let image = cvips_made_rows(
            Int32(header.width), Int32(header.height), Int32(header.bands),
            { region, _, rows, _, _ in
                guard let region, let rows else { return -1 }
                return Unmanaged<BMPRows>.fromOpaque(rows).takeUnretainedValue().fill(region) ? 0 : -1
            }, rows, { if let rows = $0 { Unmanaged<BMPRows>.fromOpaque(rows).release() } })
        guard let image else { throw VipsError.take() }
        let picture = Picture(owning: image)
        if header.resolution.across > 0, header.resolution.down > 0 {
            (image.pointee.Xres, image.pointee.Yres) = (
                Double(header.resolution.across) / 1000, Double(header.resolution.down) / 1000
            )
        }
        if let profile = header.profile { picture.setBlob(ICCProfile.field, profile) }
        return picture
    }

    private func fill(_ region: UnsafeMutablePointer<VipsRegion>) -> Bool {
        let area = region.pointee.valid
        for y in area.top..<area.top + area.height {
            guard let pixels = cvips_row(region, y), let row = row(Int(y)) else {
                cvips_error("bmp", "unexpected end of file")
                return false
            }
            write(row, from: Int(area.left), Int(area.width), to: pixels)
        }
        return true
    }

    /// The bytes of a row, or one byte per pixel if the picture is compressed.
    private func row(_ y: Int) -> [UInt8]? {
        let stored = header.isTopDown ? y : header.height - 1 - y
        guard header.isCompressed else {
            return bytes.exactly(header.start + stored * header.bytesPerRow, header.bytesPerRow)
        }
        let all = indices.withLock { known in
            if known == nil {
                known = (try? bytes.bytes(at: header.start, size - header.start)).flatMap {
                    BMPRuns(header, $0)?.indices
                }
            }
            return known
        }
        return all.map { Array($0[stored * header.width..<(stored + 1) * header.width]) }
    }

    private func write(_ row: [UInt8], from left: Int, _ width: Int, to pixels: UnsafeMutablePointer<UInt8>) {
        let (bands, bits) = (header.bands, header.isCompressed ? 8 : header.bitsPerPixel)
        for x in 0..<width {
            let (at, pixel) = (left + x, pixels + x * bands)
            switch bits {
            case 24:
                for band in 0..<3 { pixel[band] = row[at * 3 + 2 - band] }
            case 16, 32:
                let bytes = bits / 8
                let value = (0..<bytes).reduce(UInt32(0)) { $0 | UInt32(row[at * bytes + $1]) << UInt32($1 * 8) }
                for band in 0..<bands { pixel[band] = header.masks[band].value(value) }
            default:
                let index = Int(row[at * bits / 8]) >> (8 - bits - at * bits % 8) & (1 << bits - 1)
                // An index beyond the palette gives black.
                let colour = index < header.palette.count ? header.palette[index] : [0, 0, 0]
                for band in 0..<bands { pixel[band] = colour[band] }
            }
        }
    }
}
