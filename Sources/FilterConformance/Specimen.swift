import CVips
import Foundation
import SystemCalls

/// A small picture whose every sample is known: either a file for a worker to render, or a result to compare.
struct Specimen: Equatable {
    var width: Int
    var height: Int
    var bands: Int
    var is16Bit = false
    var samples: [UInt16]

    var hasAlpha: Bool { bands == 2 || bands == 4 }

    /// Draws many colours, in soft and in hard transitions. Alpha, if present, covers its whole range.
    init(_ width: Int, _ height: Int, bands: Int = 3, is16Bit: Bool = false) {
        (self.width, self.height, self.bands, self.is16Bit) = (width, height, bands, is16Bit)
        samples = []
        samples.reserveCapacity(width * height * bands)
        let (step, kinds) = (is16Bit ? 257 : 1, (bands < 3 ? [1, 3] : [0, 1, 2, 3]).prefix(bands))
        for y in 0..<height {
            for x in 0..<width {
                for kind in kinds {
                    let level =
                        switch kind {
                        case 0: x * 255 / max(1, width - 1)
                        case 1: (x * 37 + y * 11) % 256
                        case 2: y * 255 / max(1, height - 1)
                        default: (x + 2 * y) % 256
                        }
                    samples.append(UInt16(level * step))
                }
            }
        }
    }

    init(_ file: Descriptor) throws {
        let picture = try Raster.reading(file)
        is16Bit = vips_image_get_format(picture.image) == VIPS_FORMAT_USHORT
        let whole = try picture.then { cvips_cast($0, $1, VIPS_FORMAT_USHORT, 0) }.inMemory()
        (width, height, bands) = (whole.width, whole.height, whole.bands)
        let count = width * height * bands
        guard let data = whole.image.pointee.data else { throw FilterTrouble.ofVips() }
        samples = data.withMemoryRebound(to: UInt16.self, capacity: count) {
            Array(UnsafeBufferPointer(start: $0, count: count))
        }
    }

    /// The same pixels in another order, laid out in rows of another length.
    var shuffled: Specimen {
        var other = self
        (other.width, other.height) = (height, width)
        let pixels = stride(from: 0, to: samples.count, by: bands).reversed()
        other.samples = pixels.flatMap { samples[$0..<$0 + bands] }
        return other
    }

    /// The mean of all samples of all bands, on a scale of 255.
    var mean: Double {
        samples.reduce(0) { $0 + Double($1) } / Double(max(1, samples.count)) / (is16Bit ? 257 : 1)
    }

    /// The largest difference between corresponding samples, in levels; nil when the pictures differ in size, bands or
    /// depth.
    func difference(_ other: Specimen) -> Int? {
        guard width == other.width, height == other.height, bands == other.bands, is16Bit == other.is16Bit else {
            return nil
        }
        return zip(samples, other.samples).reduce(0) { max($0, abs(Int($1.0) - Int($1.1))) }
    }

    // MARK: - Files

    func file() throws -> Descriptor {
        try Self.file(picture(is16Bit ? VIPS_INTERPRETATION_RGB16 : VIPS_INTERPRETATION_sRGB)) {
            cvips_pngsave($0, $1, 6, 0, 0)
        }
    }

    /// A file of the picture in CMYK inks: cyan, magenta, yellow and black.
    func fileOfInks() throws -> Descriptor {
        try Self.file(picture(VIPS_INTERPRETATION_CMYK)) {
            cvips_tiffsave($0, $1, VIPS_FOREIGN_TIFF_COMPRESSION_NONE, VIPS_FOREIGN_TIFF_PREDICTOR_NONE, 0)
        }
    }

    /// A JPEG of the picture repeated `across` × `down` times.
    func file(across: Int, down: Int) throws -> Descriptor {
        let many = try picture(VIPS_INTERPRETATION_sRGB).then { cvips_replicate($0, $1, Int32(across), Int32(down)) }
        return try Self.file(many) { cvips_jpegsave($0, $1, 85, 0, VIPS_FOREIGN_SUBSAMPLE_AUTO, 0) }
    }

    private func picture(_ interpretation: VipsInterpretation) throws -> Raster {
        let bytes =
            is16Bit ? samples.withUnsafeBytes { Array($0) } : samples.map { UInt8(truncatingIfNeeded: $0) }
        let format = is16Bit ? VIPS_FORMAT_USHORT : VIPS_FORMAT_UCHAR
        guard
            let image = vips_image_new_from_memory_copy(
                bytes, bytes.count, Int32(width), Int32(height), Int32(bands), format)
        else { throw FilterTrouble.ofVips() }
        let grey = is16Bit ? VIPS_INTERPRETATION_GREY16 : VIPS_INTERPRETATION_B_W
        return try Raster(owning: image).then {
            cvips_reinterpret($0, $1, bands < 3 ? grey : interpretation)
        }
    }

    private static func file(
        _ picture: Raster, _ save: (UnsafeMutablePointer<VipsImage>, UnsafeMutablePointer<VipsTarget>) -> Int32
    ) throws -> Descriptor {
        let file = try Descriptor.memory([])
        guard let target = vips_target_new_to_descriptor(file.number) else { throw FilterTrouble.ofVips() }
        defer { g_object_unref(target) }
        guard save(picture.image, target) == 0 else { throw FilterTrouble.ofVips() }
        return file
    }
}
