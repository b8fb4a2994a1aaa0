import CVips
import Glibc
import PipelineModel
import SystemCalls
import WorkerProtocol

/// `save` chooses the encoder, and the metadata that the result keeps.
struct SaveStage {
    static let name = "save"

    let format: String
    /// The quality or, with `max-bytes=`, the highest quality to try.
    private let quality: Int32
    let effort: Int32
    let isLossless: Bool
    let isProgressive: Bool
    private let chroma: VipsForeignSubsample
    let maxBytes: Int?
    let keepsProfile: Bool
    /// Whether all frames of an animation are saved.
    let keepsFrames: Bool
    let hdr: HDR
    /// Whether the file only passes a picture on across a barrier, and is soon read again.
    let isHandOver: Bool
    private let metadata: Metadata
    private let credit: Credit
    private let caption: Caption
    private let background: [Double]
    /// Whether alpha is removed although the format can store it. The preview of a result without transparency needs
    /// this.
    private let isOpaque: Bool

    /// Whether the result keeps the gain map if possible, drops it, or requires it.
    enum HDR: String { case keep, drop, require }

    /// Whether the result keeps the maker notes in the picture's EXIF.
    var keepsMakersNotes: Bool { metadata == .keep }

    /// Whether 16-bit samples stay 16-bit.
    var stores16Bits: Bool { ["png", "tiff", "jxl"].contains(format) }

    init(_ stage: Stage) {
        format = stage.arguments["format"]?.text ?? "jpeg"
        let standard = ["jpeg": 85, "webp": 80, "avif": 55, "jxl": 75][format] ?? 0
        isHandOver = stage.arguments["compression"]?.number == 0
        maxBytes = stage.maxBytes
        quality = Int32(stage.arguments["quality"]?.number ?? (maxBytes == nil ? Double(standard) : 95))
        effort = Int32(stage.arguments["effort"]?.number ?? (["png": 6, "avif": 3, "gif": 6, "jxl": 5][format] ?? 4))
        isLossless = stage.arguments["lossless"]?.number == 1
        isProgressive = stage.arguments["progressive"]?.number == 1
        chroma =
            switch stage.arguments["chroma"]?.text {
            case "420": VIPS_FOREIGN_SUBSAMPLE_ON
            case "444": VIPS_FOREIGN_SUBSAMPLE_OFF
            // With `max-bytes=`, chroma is subsampled at every quality.
            default: maxBytes == nil ? VIPS_FOREIGN_SUBSAMPLE_AUTO : VIPS_FOREIGN_SUBSAMPLE_ON
            }
        keepsProfile = stage.arguments["profile"]?.text == "keep" && format != "gif"
        keepsFrames = stage.keepsFrames
        hdr = stage.arguments["hdr"]?.text.flatMap(HDR.init) ?? .keep
        metadata = stage.arguments["metadata"]?.text.flatMap(Metadata.init) ?? .keep
        credit = Credit(stage)
        caption = Caption(stage)
        isOpaque = stage.arguments["opaque"] != nil
        background = Self.colour(stage.arguments["background"]?.text ?? "#ffffff")
    }

    /// The fraction of a render's time that the encoder needs after the last pixel. `Benchmarks/encoding-share.py`
    /// measured it with a photograph-like JPEG of 10.7 megapixels, on one thread. The other encoders work line by line
    /// and need little time (JPEG 0.09, PNG 0.06, TIFF 0.10).
    private static let shares = ["webp": 0.85, "avif": 0.98, "jxl": 0.96]

    /// The encoder's work after the last pixel, as a multiple of the work to evaluate all pixels. Frames are encoded as
    /// they arrive, so no work is left after the last frame of an animation.
    func encoding(frames: Int) -> Double { frames > 1 ? 0 : encoding }

    private var encoding: Double {
        let share = Self.shares[format] ?? 0
        return share / (1 - share)
    }

    /// Whether the encoder accepts planes without a conversion to RGB.
    var storesPlanes: Bool { format == "jpeg" || (format == "webp" && !isLossless) }

    /// The sample range of the planes that are encoded.
    var range: SampleRange { format == "webp" ? .limited : .full }

    /// Whether the quality makes files several times as long as usual. Always false with `max-bytes=`, because a file
    /// that fits is short at any quality.
    var isFine: Bool { quality > 90 && maxBytes == nil }

    /// The chroma subsampling that the encoder uses; libvips makes the same choice.
    var sharedColours: Planes.Subsampling {
        let isAuto = chroma == VIPS_FOREIGN_SUBSAMPLE_AUTO
        return format == "webp" || (isAuto ? quality < 90 : chroma == VIPS_FOREIGN_SUBSAMPLE_ON) ? .quarter : .none
    }

    /// The chroma subsampling of the planes that this stage encodes without a conversion to RGB; nil if it needs RGB.
    static func storedPlanes(_ stage: Stage) -> Planes.Subsampling? {
        guard stage.name == name else { return nil }
        let save = SaveStage(stage)
        return save.storesPlanes ? save.sharedColours : nil
    }

    /// Encodes planes with the sample range `range` into `target`, and adds the metadata of `file`. Returns a picture
    /// with the same size and metadata as the result.
    func apply(
        to planes: Planes, of file: Picture, with gainMap: GainMapFile?, into target: Descriptor,
        _ cancellation: Cancellation
    ) throws -> Picture {
        try ResultSize(width: planes.width, height: planes.height).check(format)
        // libultrahdr ignores the gain map of a picture with only one component.
        guard let planes = gainMap == nil ? planes : planes.withColours else {
            throw WorkerFailure(stage: Self.name, withoutMemory: "there was no memory for the result")
        }
        let final = try Metadata.header(of: file, planes.width, planes.height, isGrey: planes.colours.isEmpty)
        finish(final, of: file)
        cancellation.progress.passed(1)
        let encoded = try fitting { quality in
            let encoded = try encode(planes, final, quality: quality, cancellation)
            return gainMap?.added(to: encoded) ?? encoded
        }
        cancellation.progress.passed(encoding)
        try write(encoded, into: target)
        return final
    }

    private func withMetadata(_ picture: Picture, isColour: Bool) throws -> Picture {
        let result = try picture.withOwnFields()
        finish(result, of: picture)
        // libultrahdr ignores the gain map of a picture with only one component.
        guard isColour, result.bands < 3 else { return result }
        return try result.then { cvips_colourspace($0, $1, VIPS_INTERPRETATION_sRGB) }
    }

    /// Removes metadata that the output should not have. Then adds the default author and copyright if `picture` has
    /// none. Unless all metadata is stripped, also adds the caption and credit from the download list that named the
    /// picture.
    private func finish(_ result: Picture, of picture: Picture) {
        metadata.apply(to: result, for: format)
        credit.add(to: result, of: picture)
        if metadata != .strip { caption.add(to: result, for: format) }
    }

    private func write(_ encoded: [UInt8], into target: Descriptor) throws(WorkerFailure) {
        do { try target.write(encoded, called: "the result") } catch { throw WorkerFailure(writing: error.code) }
    }

    /// Encodes at the stage's quality, or at the highest quality whose file fits into `max-bytes=`.
    private func fitting(_ encode: (_ quality: Int32) throws -> [UInt8]) throws -> [UInt8] {
        guard let maxBytes else { return try encode(quality) }
        var search = QualitySearch(most: Int(quality), limit: maxBytes)
        var best: [UInt8]?
        var least = 0
        while let next = search.next {
            let encoded = try encode(Int32(next))
            least = encoded.count
            if search.tried(next, bytes: encoded.count) { best = encoded }
        }
        guard let best else {
            throw WorkerFailure(
                stage: Self.name,
                message: "at the lowest quality it still has \(least) bytes, more than max-bytes= allows (\(maxBytes))",
                advice: "put a smaller resize before save, or allow more; then pipectl retry")
        }
        return best
    }

    private func encode(
        _ planes: Planes, _ picture: Picture, quality: Int32, _ cancellation: Cancellation
    ) throws -> [UInt8] {
        let encoded =
            format == "webp"
            ? WebPPlanes.encode(planes, quality: quality, effort: effort) { part in
                if maxBytes == nil { cancellation.progress.reached(part * encoding) }
                return !cancellation.isCancelled
            } : JPEGPlanes.encode(planes, quality: quality, isProgressive: isProgressive)
        try cancellation.check()
        guard let encoded else {
            let reason =
                "its encoder has no memory for \(planes.width) × \(planes.height) pixels, or does not take them"
            throw WorkerFailure(encoding: VipsError(lines: [reason]))
        }
        // This step reads no pixel, so report any failure as a failure of the encoder.
        do { return try described(encoded, as: picture) } catch let error as VipsError {
            throw WorkerFailure(encoding: error)
        }
    }

    /// The encoded file, with the metadata of `picture`.
    private func described(_ encoded: [UInt8], as picture: Picture) throws -> [UInt8] {
        let described = PlanesMetadata(of: picture)
        guard format == "webp" else { return try described.added(toJPEG: encoded, strip: metadata == .strip) }
        return metadata == .strip ? encoded : try described.added(toWebP: encoded)
    }

    /// Encodes into `target`, evaluating the whole pipeline. Returns the picture that the encoder received.
    func apply(
        to picture: Picture, with gainMap: GainMapFile? = nil, into target: Descriptor, _ cancellation: Cancellation
    ) throws -> Picture {
        try Encoders.check(format)
        let encoding = encoding(frames: picture.frames)
        // A filter may have changed the size in a way that the stages did not predict.
        try ResultSize(width: picture.width, height: picture.frameHeight).check(format)
        let fitting = try fittingFormat(picture)
        let final = isHandOver ? try Metadata.bare(fitting) : try withMetadata(fitting, isColour: gainMap != nil)
        if format == "avif", picture.is16Bit { final.setInteger(Metadata.narrowedField, 1) }
        guard maxBytes == nil else { return try fit(final, gainMap, into: target, cancellation) }
        // JPEG XL's metadata and a gain map are added after the encoding, so encode the picture into memory.
        if format == "jxl" || gainMap != nil {
            let encoded = try cancellation.guarding(final, encoding: encoding) {
                do { return try encodedFile(final, gainMap, quality: quality) } catch let error as VipsError {
                    throw error.isOfEncoding ? WorkerFailure(encoding: error) : error
                }
            }
            try write(encoded, into: target)
            return final
        }
        let result = ResultTarget(target, of: final)
        try cancellation.guarding(final, encoding: encoding) {
            let status = try result.withTarget { encode(final, $0, quality: quality) }
            let error = status == 0 ? nil : VipsError.take()
            if let code = result.failure { throw WorkerFailure(writing: code) }
            // The pipeline is lazy and reads the picture only while it is encoded, so the error may be the reader's.
            if let error { throw error.isOfEncoding ? WorkerFailure(encoding: error) : error }
        }
        if format == "tiff" { try EXIF.complete(target, of: final) }
        return final
    }

    /// Searches for the highest quality that fits into `max-bytes=`. Keeps the pixels in memory, because they are
    /// encoded several times.
    private func fit(
        _ picture: Picture, _ gainMap: GainMapFile?, into target: Descriptor, _ cancellation: Cancellation
    ) throws -> Picture {
        let pixels = try cancellation.guarding(picture, encoding: encoding(frames: picture.frames), picture.inMemory)
        let encoded = try self.fitting { quality in
            try cancellation.guarding(pixels) {
                do { return try encodedFile(pixels, gainMap, quality: quality) } catch let error as VipsError {
                    throw WorkerFailure(encoding: error)
                }
            }
        }
        try write(encoded, into: target)
        return pixels
    }

    /// The whole file in memory.
    private func encodedFile(_ picture: Picture, _ gainMap: GainMapFile?, quality: Int32) throws -> [UInt8] {
        if format == "jxl" { return try encodedJXL(picture, quality: quality) }
        let encoded = try file { encode(picture, $0, quality: quality) }
        return gainMap?.added(to: encoded) ?? encoded
    }

    /// The bytes that `encode` writes into its target.
    private func file(_ encode: (UnsafeMutablePointer<VipsTarget>) -> Int32) throws -> [UInt8] {
        guard let memory = vips_target_new_to_memory() else { throw VipsError.take() }
        defer { g_object_unref(memory) }
        guard encode(memory) == 0 else { throw VipsError.take() }
        var (blob, length) = (UnsafeMutablePointer<VipsBlob>?.none, 0)
        let bytes = cvips_target_bytes(memory, &blob, &length)
        defer { blob.map { vips_area_unref(UnsafeMutableRawPointer($0).assumingMemoryBound(to: VipsArea.self)) } }
        return Array(UnsafeRawBufferPointer(start: bytes, count: length))
    }

    /// Encodes the picture without its metadata, and adds the metadata to the file's boxes.
    private func encodedJXL(_ picture: Picture, quality: Int32) throws -> [UInt8] {
        // The encoder reads three colours from a picture marked as sRGB, even if the picture has fewer bands. So mark
        // the picture according to its bands.
        let bare = try Metadata.bare(picture.interpretedByBands())
        let distance = JXLContainer.distance(of: Int(quality))
        let encoded = try file { cvips_jxlsave(bare.image, $0, distance, effort, isLossless ? 1 : 0) }
        guard
            let file = try PlanesMetadata(of: picture).added(toJXL: encoded, strip: metadata == .strip)
        else {
            throw VipsError(lines: ["jxlsave: the encoder has made no JPEG XL"])
        }
        return file
    }

    private func encode(
        _ picture: Picture, _ target: UnsafeMutablePointer<VipsTarget>, quality: Int32
    ) -> Int32 {
        let image = picture.image
        let (lossless, interlaced): (gboolean, gboolean) = (isLossless ? 1 : 0, isProgressive ? 1 : 0)
        let strip: gboolean = metadata == .strip ? 1 : 0
        return switch format {
        case "png":
            if isHandOver {
                cvips_pngsave_plain(image, target)
            } else if !isProgressive, PNGSaver.canSave(picture, effort: effort) {
                PNGSaver.save(picture, target, effort: effort, strip: metadata == .strip)
            } else {
                cvips_pngsave(image, target, effort, interlaced, strip)
            }
        case "webp":
            metadata == .strip || picture.frames > 1
                ? WebPInMemory.save(
                    picture, target, quality: quality, effort: effort, lossless: lossless, strip: metadata == .strip)
                : cvips_webpsave(image, target, quality, effort, lossless, strip)
        case "tiff":
            cvips_tiffsave(
                image, target, VIPS_FOREIGN_TIFF_COMPRESSION_DEFLATE, VIPS_FOREIGN_TIFF_PREDICTOR_HORIZONTAL, strip)
        case "avif":
            cvips_heifsave(image, target, VIPS_FOREIGN_HEIF_COMPRESSION_AV1, quality, 8, effort, chroma, strip)
        // libvips' effort begins at 1, the stage's at 0.
        case "gif": cvips_gifsave(image, target, effort + 1, strip)
        default: cvips_jpegsave(image, target, quality, interlaced, chroma, strip)
        }
    }

    /// Removes alpha, and converts 16-bit samples to 8-bit, if the format can't store them.
    private func fittingFormat(_ picture: Picture) throws -> Picture {
        let flat = (format == "jpeg" || isOpaque) && picture.hasAlpha ? try flattened(picture) : picture
        guard !stores16Bits, flat.format != VIPS_FORMAT_UCHAR else { return flat }
        let space = flat.bands < 3 ? VIPS_INTERPRETATION_B_W : VIPS_INTERPRETATION_sRGB
        return try flat.then { cvips_colourspace($0, $1, space) }
    }

    private func flattened(_ picture: Picture) throws -> Picture {
        let most = picture.format == VIPS_FORMAT_USHORT ? 257.0 : 1
        let grey = zip(background, [0.299, 0.587, 0.114]).map(*).reduce(0, +)
        let values = (picture.bands == 2 ? [grey] : background).map { $0 * most }
        guard let array = vips_array_double_new(values, Int32(values.count)) else { throw VipsError.take() }
        defer { vips_area_unref(UnsafeMutableRawPointer(array).assumingMemoryBound(to: VipsArea.self)) }
        let format = picture.format
        return try picture.then { cvips_flatten($0, $1, array) }.then { cvips_cast($0, $1, format, 0) }
    }

    private static func colour(_ text: String) -> [Double] {
        let number = Int(text.dropFirst(), radix: 16) ?? 0xffffff
        return [16, 8, 0].map { Double(number >> $0 & 255) }
    }
}
