import CVips
import Glibc
import PipelineModel
import SystemCalls
import WorkerProtocol

/// `save`: the encoder, and what of the metadata goes with the picture.
struct SaveStage {
    static let name = "save"

    let format: String
    private let quality: Int32
    private let metadata: String
    private let background: [Double]

    init(_ stage: Stage) {
        format = stage.arguments["format"]?.text ?? "jpeg"
        let standard = ["jpeg": 85, "webp": 80, "avif": 55][format] ?? 0
        quality = Int32(stage.arguments["quality"]?.number ?? Double(standard))
        metadata = stage.arguments["metadata"]?.text ?? "keep"
        background = Self.colour(stage.arguments["background"]?.text ?? "#ffffff")
    }

    /// Encodes into `target`, evaluating the whole pipeline.
    func apply(
        to picture: Picture, into target: Descriptor, _ cancellation: Cancellation
    ) throws -> RenderedOutput {
        let final = try prepared(picture)
        guard let destination = vips_target_new_to_descriptor(target.number) else { throw VipsError.take() }
        defer { g_object_unref(destination) }
        let strip: gboolean = metadata == "strip" ? 1 : 0
        try cancellation.guarding(final) {
            let image = final.image
            let status =
                switch format {
                case "png": cvips_pngsave(image, destination, strip)
                case "webp": cvips_webpsave(image, destination, quality, strip)
                case "tiff":
                    cvips_tiffsave(
                        image, destination, VIPS_FOREIGN_TIFF_COMPRESSION_DEFLATE,
                        VIPS_FOREIGN_TIFF_PREDICTOR_HORIZONTAL, strip)
                case "avif":
                    cvips_heifsave(image, destination, VIPS_FOREIGN_HEIF_COMPRESSION_AV1, quality, 8, strip)
                default: cvips_jpegsave(image, destination, quality, strip)
                }
            guard status == 0 else { throw VipsError.take() }
        }
        return RenderedOutput(
            format: format, width: final.width, height: final.height, bands: final.bands,
            bytes: Int64(try target.status().st_size))
    }

    private func prepared(_ picture: Picture) throws -> Picture {
        var result = picture
        if format == "jpeg", result.hasAlpha { result = try flattened(result) }
        let hasWide = format == "png" || format == "tiff"
        if !hasWide, result.format != VIPS_FORMAT_UCHAR {
            let isGrey = result.bands < 3
            result = try result.then {
                cvips_colourspace($0, $1, isGrey ? VIPS_INTERPRETATION_B_W : VIPS_INTERPRETATION_sRGB)
            }
        }
        result = try result.withOwnFields()
        choose(fieldsOf: result)
        return result
    }

    private func flattened(_ picture: Picture) throws -> Picture {
        let most = picture.format == VIPS_FORMAT_USHORT ? 257.0 : 1
        let colours = picture.bands - 1
        let grey = 0.299 * background[0] + 0.587 * background[1] + 0.114 * background[2]
        let values = (colours == 1 ? [grey] : background).map { $0 * most }
        guard let array = vips_array_double_new(values, Int32(values.count)) else { throw VipsError.take() }
        defer { vips_area_unref(UnsafeMutableRawPointer(array).assumingMemoryBound(to: VipsArea.self)) }
        return try picture.then { cvips_flatten($0, $1, array) }
    }

    private func choose(fieldsOf picture: Picture) {
        // It shows the picture as it was, and as it was turned.
        picture.removeField("jpeg-thumbnail-data")
        picture.removeField("orientation")
        // A profile for three colours says nothing of one.
        if picture.bands < 3 { picture.removeField("icc-profile-data") }
        guard metadata == "copyright" else { return }
        let kept: Set = ["exif-ifd0-Copyright", "exif-ifd0-Artist", "icc-profile-data"]
        for name in picture.fieldNames where Self.isMetadata(name) && !kept.contains(name) { picture.removeField(name) }
    }

    private static func isMetadata(_ name: String) -> Bool {
        ["exif-", "xmp-", "iptc-", "icc-", "photoshop-", "png-comment-", "gif-comment", "image-description"]
            .contains(where: name.hasPrefix)
    }

    private static func colour(_ text: String) -> [Double] {
        let number = Int(text.dropFirst(), radix: 16) ?? 0xffffff
        return [16, 8, 0].map { Double(number >> $0 & 255) }
    }
}
