extension Planes {
    /// The picture for libvips: grey, or in RGB. It needs chroma of its own for every pixel, and the full range. Nil
    /// when memory can't be allocated.
    var picture: Picture? {
        Picture.painted(Int32(width), Int32(height), bands: colours.isEmpty ? 1 : 3) { pixels in
            guard let blue = colours.first, let red = colours.last else {
                for y in 0..<height { (pixels + y * width).update(from: luma.row(y), count: width) }
                return true
            }
            for y in 0..<height {
                Self.writeRGB(luma.row(y), blue.row(y), red.row(y), to: pixels + y * width * 3, count: width)
            }
            return true
        }
    }

    /// Converts a row by JFIF's formula, in integers of 16 binary places, as libjpeg does.
    private static func writeRGB(
        _ luma: UnsafePointer<UInt8>, _ blue: UnsafePointer<UInt8>, _ red: UnsafePointer<UInt8>,
        to pixels: UnsafeMutablePointer<UInt8>, count: Int
    ) {
        func byte(_ value: Int32) -> UInt8 { UInt8(truncatingIfNeeded: min(255, max(0, value))) }
        for x in 0..<count {
            let (y, cb, cr) = (Int32(luma[x]), Int32(blue[x]) &- 128, Int32(red[x]) &- 128)
            pixels[3 &* x] = byte(y &+ (91881 &* cr &+ 32768) >> 16)
            pixels[3 &* x &+ 1] = byte(y &+ (32768 &- 22554 &* cb &- 46802 &* cr) >> 16)
            pixels[3 &* x &+ 2] = byte(y &+ (116130 &* cb &+ 32768) >> 16)
        }
    }
}
