import CVips
import Foundation
import Glibc
import SystemCalls

/// 8-bit or 16-bit samples in memory, which can be written to a file and read back.
struct Pixels: Equatable {
    var width: Int
    var height: Int
    var bands: Int
    var samples: [UInt16]

    /// `paint` returns the samples of each pixel.
    init(_ width: Int, _ height: Int, _ paint: (_ x: Int, _ y: Int) -> [Int]) {
        (self.width, self.height) = (width, height)
        bands = paint(0, 0).count
        samples = (0..<width * height).flatMap { paint($0 % width, $0 / width).map { UInt16($0) } }
    }

    subscript(x: Int, y: Int) -> [Int] {
        let start = (y * width + x) * bands
        return samples[start..<start + bands].map { Int($0) }
    }

    /// Returns soft colours, which every encoder preserves well.
    static func colourful(_ width: Int, _ height: Int, alpha: Bool = false) -> Pixels {
        var pixels = Pixels(1, 1) { _, _ in Array(repeating: 0, count: alpha ? 4 : 3) }
        (pixels.width, pixels.height) = (width, height)
        // These are plain arrays of numbers for speed, because test builds are not optimised and the pictures are
        // large.
        func wave(_ count: Int, _ pace: Double, _ start: Double) -> [UInt16] {
            (0..<count).map { UInt16(127 + 115 * sin(Double($0) / Double(count) * pace + start)) }
        }
        let (red, green) = (wave(width, 7, 0), wave(height, 6, 1))
        let blue = wave(width + height, 9, 2)
        pixels.samples = []
        pixels.samples.reserveCapacity(width * height * pixels.bands)
        for y in 0..<height {
            for x in 0..<width {
                pixels.samples.append(red[x])
                pixels.samples.append(green[y])
                pixels.samples.append(blue[x + y])
                if alpha { pixels.samples.append(UInt16(x * 255 / width)) }
            }
        }
        return pixels
    }

    /// Returns soft colours with some noise, like a photograph.
    static func mixed(_ width: Int, _ height: Int) -> Pixels {
        let (soft, noise) = (colourful(width, height), noise(width, height))
        var mixed = soft
        mixed.samples = zip(soft.samples, noise.samples).map { $0 - $0 / 6 + $1 / 6 }
        return mixed
    }

    /// Returns noise, which no encoder can compress away.
    static func noise(_ width: Int, _ height: Int) -> Pixels {
        var state: UInt32 = 1
        return Pixels(width, height) { _, _ in
            (0..<3).map { _ in
                state = state &* 1_664_525 &+ 1_013_904_223
                return Int(state >> 24)
            }
        }
    }

    func map(_ change: ([Int]) -> [Int]) -> Pixels { Pixels(width, height) { change(self[$0, $1]) } }

    /// Returns the similarity to another picture in dB. It is 0 if the sizes or the numbers of bands differ.
    func likeness(_ other: Pixels, most: Double = 255) -> Double {
        guard width == other.width, height == other.height, bands == other.bands else { return 0 }
        var squares = 0
        for index in samples.indices {
            let difference = Int(samples[index]) - Int(other.samples[index])
            squares += difference * difference
        }
        let mean = Double(squares) / Double(samples.count)
        return mean == 0 ? .infinity : 10 * log10(most * most / mean)
    }
}

/// Writes pixels to files and reads them back, through libvips.
extension Pixels {
    enum Format { case jpeg, png, webp, tiff, avif, heic }

    private static let isReady = vips_init("RenderWorkerTests") == 0

    /// Writes the pixels to a file. `prepare` may first set fields of the picture or extend it.
    func file(
        _ format: Format, is16Bit: Bool = false, quality: Int32 = 95, strip: Bool = false,
        prepare: (VipsPicture) throws -> VipsPicture = { $0 }
    ) throws -> TemporaryFile {
        guard Self.isReady else { throw Unexpected("libvips") }
        let file = try TemporaryFile()
        let picture = try prepare(VipsPicture(self, is16Bit: is16Bit))
        guard let target = vips_target_new_to_file(file.path) else { throw Unexpected(VipsPicture.error) }
        defer { g_object_unref(target) }
        let strip: gboolean = strip ? 1 : 0
        let status =
            switch format {
            case .jpeg: cvips_jpegsave(picture.image, target, quality, 0, VIPS_FOREIGN_SUBSAMPLE_AUTO, strip)
            case .png: cvips_pngsave(picture.image, target, 6, 0, strip)
            case .webp: cvips_webpsave(picture.image, target, quality, 4, 0, strip)
            case .tiff:
                cvips_tiffsave(
                    picture.image, target, VIPS_FOREIGN_TIFF_COMPRESSION_NONE, VIPS_FOREIGN_TIFF_PREDICTOR_NONE, strip)
            case .avif, .heic:
                cvips_heifsave(
                    picture.image, target,
                    format == .avif ? VIPS_FOREIGN_HEIF_COMPRESSION_AV1 : VIPS_FOREIGN_HEIF_COMPRESSION_HEVC, quality,
                    8, 4,
                    VIPS_FOREIGN_SUBSAMPLE_AUTO, strip)
            }
        guard status == 0 else { throw Unexpected(VipsPicture.error) }
        return file
    }

    init(_ file: TemporaryFile) throws {
        self = try VipsPicture(file).pixels()
    }
}
