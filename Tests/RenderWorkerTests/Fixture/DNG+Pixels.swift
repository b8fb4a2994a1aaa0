import TestTools

extension DNG {
    init(
        pixels: Pixels, preview: [UInt8]? = nil, orientation: Int = 1, claimed: (width: Int, height: Int)? = nil
    ) {
        self.init(pixels.width, pixels.height, colours: pixels.samples, preview: preview)
        (self.orientation, self.claimed) = (orientation, claimed)
    }

    var file: TemporaryFile { get throws { try TemporaryFile(bytes) } }
}

extension Pixels {
    /// Returns a picture in soft colours with a white corner. When a picture is developed, the brightest hundredth of
    /// its pixels determines its brightness. The corner fills that hundredth.
    static func photographed(_ width: Int, _ height: Int) -> Pixels {
        var pixels = colourful(width, height)
        for y in 0..<height / 4 {
            for x in 0..<width / 4 {
                for band in 0..<3 { pixels.samples[(y * width + x) * 3 + band] = 255 }
            }
        }
        return pixels
    }
}
