import CJPEGPlanes

extension Planes {
    /// The picture for libvips, in grey or RGB. The planes must have full range, and a chroma sample for every pixel.
    /// Nil when memory can't be allocated.
    var picture: Picture? {
        Picture.painted(Int32(width), Int32(height), bands: colours.isEmpty ? 1 : 3) { pixels in
            guard let blue = colours.first, let red = colours.last else {
                for y in 0..<height { (pixels + y * width).update(from: luma.row(y), count: width) }
                return true
            }
            for y in 0..<height {
                jpeg_planes_rgb(luma.row(y), blue.row(y), red.row(y), pixels + y * width * 3, width)
            }
            return true
        }
    }
}
