import CVips
import CWebP

/// Reads a WebP's own luma with libwebp at a fraction of its size, without conversion to colours.
enum GreyWebP {
    /// Whether it is one lossy picture without alpha: other WebP files have no luma of their own. Nil when the header
    /// goes on behind these bytes.
    static func isPossible(_ start: [UInt8]) -> Bool? {
        guard let features = features(start) else { return nil }
        let isLossy = features.format == 1
        return isLossy && features.has_alpha == 0 && features.has_animation == 0
    }

    /// One band in memory; nil when the file is not whole, or anything else is odd: then libvips decodes it. It is
    /// shrunk here, by averages: libwebp's own rescaler is ten times as slow, and works on colours, too.
    static func decode(_ bytes: [UInt8], shrink: Int) -> Picture? {
        guard features(bytes) != nil else { return nil }
        var (width, height, stride) = (Int32(0), Int32(0), Int32(0))
        var (u, v, strideOfColours) = (UnsafeMutablePointer<UInt8>?.none, UnsafeMutablePointer<UInt8>?.none, Int32(0))
        guard let luma = WebPDecodeYUV(bytes, bytes.count, &width, &height, &u, &v, &stride, &strideOfColours) else {
            return nil
        }
        defer { WebPFree(luma) }
        let plane = Plane(samples: luma, stride: Int(stride), width: Int(width), height: Int(height))
        let across = (width + Int32(shrink) - 1) / Int32(shrink), down = (height + Int32(shrink) - 1) / Int32(shrink)
        return Picture.grey(across, down) { pixels in
            let (across, down) = (Int(across), Int(down))
            // With a constant `side` the compiler unrolls the inner loops.
            switch shrink {
            case 1: plane.average(1, into: pixels, across, down)
            case 2: plane.average(2, into: pixels, across, down)
            case 4: plane.average(4, into: pixels, across, down)
            default: plane.average(shrink, into: pixels, across, down)
            }
            return true
        }
    }

    private struct Plane {
        let samples: UnsafeMutablePointer<UInt8>
        let stride: Int
        let width: Int
        let height: Int

        /// Makes one sample, in the full range, of each square of `side` samples; at the edges the last ones count
        /// again.
        @inline(__always)
        func average(_ side: Int, into pixels: UnsafeMutablePointer<UInt8>, _ across: Int, _ down: Int) {
            let area = UInt32(side * side)
            fullRange.withUnsafeBufferPointer { fullRange in
                for y in 0..<down {
                    let inside = (y + 1) * side <= height ? width / side : 0
                    let (top, row) = (samples + y * side * stride, pixels + y * across)
                    for x in 0..<inside {
                        var sum = area / 2
                        for line in 0..<side {
                            let start = top + (line &* stride &+ x &* side)
                            for column in 0..<side { sum &+= UInt32(start[column]) }
                        }
                        row[x] = fullRange[Int(sum / area)]
                    }
                    for x in inside..<across {
                        var sum = area / 2
                        for line in y * side..<(y + 1) * side {
                            for column in x * side..<(x + 1) * side {
                                sum += UInt32(samples[min(line, height - 1) * stride + min(column, width - 1)])
                            }
                        }
                        row[x] = fullRange[Int(sum / area)]
                    }
                }
            }
        }
    }

    /// Stored luma goes from 16 to 235.
    private static let fullRange: [UInt8] = (0..<256).map { UInt8(min(255, max(0, (($0 - 16) * 255 + 109) / 219))) }

    private static func features(_ bytes: [UInt8]) -> WebPBitstreamFeatures? {
        var features = WebPBitstreamFeatures()
        let status = WebPGetFeatures(bytes, bytes.count, &features)
        return status == VP8_STATUS_OK && features.width > 0 && features.height > 0 ? features : nil
    }
}
