import CVips

/// A picture to draw, with its size, its painter and its format.
struct Drawing: Sendable {
    /// Returns the colour of a pixel. Each drawing makes its own painter, which may precompute columns and rows.
    typealias Painter = @Sendable (_ x: Int, _ y: Int) -> Colour

    var file: String
    /// The size of the upright picture.
    var width: Int
    var height: Int
    var hasAlpha = false
    /// The EXIF orientation in which the file stores the picture.
    var orientation = 1
    var copyright: String?
    var painter: @Sendable (_ width: Int, _ height: Int) -> Painter

    /// All drawings, the slowest first, so that no processor is idle at the end while a slow drawing is unfinished.
    static let all = [
        Drawing(
            file: "morning-hills.jpg", width: 4000, height: 2667, copyright: "2026 the makers of pipelined",
            painter: Landscapes.hills),
        Drawing(file: "sunset-at-sea.jpg", width: 3600, height: 2400, painter: Landscapes.sea),
        Drawing(file: "northern-lights.jpg", width: 3000, height: 2000, painter: Landscapes.aurora),
        Drawing(file: "poplars-upright.jpg", width: 2000, height: 3000, orientation: 6, painter: Landscapes.poplars),
        Drawing(file: "dunes.jpg", width: 3200, height: 1800, painter: Landscapes.dunes),
        Drawing(file: "stained-glass.png", width: 1400, height: 1000, painter: Patterns.glass),
        Drawing(file: "seahorse-valley.png", width: 1600, height: 1200, painter: Patterns.mandelbrot),
        Drawing(file: "triangles.jpg", width: 2400, height: 2400, painter: Patterns.triangles),
        Drawing(file: "LIGHTHOUSE.JPG", width: 1800, height: 2400, painter: Landscapes.lighthouse),
        Drawing(file: "plasma.webp", width: 1200, height: 800, painter: Patterns.plasma),
        Drawing(file: "balloon.png", width: 1000, height: 1200, hasAlpha: true, painter: Patterns.balloon),
        Drawing(file: "raindrops.webp", width: 900, height: 900, painter: Patterns.raindrops),
    ]

    func write(into folder: String) throws {
        let pixels = painted()
        let stored = orientation == 6 ? (width: height, height: width) : (width: width, height: height)
        let bands = hasAlpha ? 4 : 3
        let made = pixels.withUnsafeBytes {
            vips_image_new_from_memory_copy(
                $0.baseAddress, $0.count, Int32(stored.width), Int32(stored.height), Int32(bands), VIPS_FORMAT_UCHAR)
        }
        guard let made else { throw VipsFailure() }
        defer { g_object_unref(made) }
        made.pointee.Type = VIPS_INTERPRETATION_sRGB
        if orientation != 1 { vips_image_set_int(made, "orientation", Int32(orientation)) }
        if let copyright { vips_image_set_string(made, "exif-ifd0-Copyright", copyright) }
        guard let target = vips_target_new_to_file("\(folder)/\(file)") else { throw VipsFailure() }
        defer { g_object_unref(target) }
        let status =
            switch file.split(separator: ".").last {
            case "png": cvips_pngsave(made, target, 6, 0, 0)
            case "webp": cvips_webpsave(made, target, 88, 4, 0, 0)
            default: cvips_jpegsave(made, target, 90, 0, VIPS_FOREIGN_SUBSAMPLE_AUTO, 0)
            }
        guard status == 0 else { throw VipsFailure() }
    }

    private func painted() -> [UInt8] {
        let paint = painter(width, height)
        let bands = hasAlpha ? 4 : 3
        return [UInt8](unsafeUninitializedCapacity: width * height * bands) { buffer, used in
            for y in 0..<height {
                for x in 0..<width {
                    // With orientation 6 the first stored row is the right edge of the upright picture.
                    let pixel = orientation == 6 ? (width - 1 - x) * height + y : y * width + x
                    let colour = (paint(x, y).clamped(lowerBound: .zero, upperBound: .one) * 255).rounded(
                        .toNearestOrEven)
                    for band in 0..<bands { buffer[pixel * bands + band] = UInt8(colour[band]) }
                }
            }
            used = buffer.count
        }
    }
}

struct VipsFailure: Error, CustomStringConvertible {
    let description: String

    init() {
        description =
            String(cString: vips_error_buffer()).split(separator: "\n").first.map(String.init) ?? "no reason given"
        vips_error_clear()
    }
}
