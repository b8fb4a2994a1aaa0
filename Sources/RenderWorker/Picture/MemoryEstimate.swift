import CVips
import PipelineModel

/// Estimates the memory needed to render an output, in bytes: the measured memory of libvips' streaming, plus the
/// memory of decoders, rotations and encoders that hold a whole picture. `MemoryTests` compares the estimate with a
/// worker's real peak.
struct MemoryEstimate {
    let picture: Picture
    let source: SourceFile
    let planes: Planes.Subsampling?
    let isProgressive: Bool
    let traits: (Stage) -> Set<StageTrait>
    let movesPixels: (Stage) -> Bool

    /// Memory of a worker that has only rendered a small picture.
    private static let worker = 60 << 20

    /// `stages` contains the stages of all outputs of the job, not only of those in `decoding`.
    func bytes(_ decoding: DecodePlan.Decoding, _ stages: [[Stage]]) -> Int64 {
        guard decoding.path.isOfPlanes else { return inPixels(decoding, stages) }
        let planes = inPlanes(decoding, stages)
        guard source.acceptsDamage else { return planes }
        // If the file is truncated, its planes can't be used, and libvips decodes it at full size for each output.
        let whole = DecoderPath(colours: .all, shrink: 1, plainShrink: 1, reason: decoding.path.reason)
        return decoding.outputs.map { inPixels(DecodePlan.Decoding(path: whole, outputs: [$0]), stages) }
            .reduce(planes, max)
    }

    private func inPixels(_ decoding: DecodePlan.Decoding, _ stages: [[Stage]]) -> Int64 {
        let path = decoding.path
        let own = decoding.outputs.map { stages[$0] }.map { stages in
            let result = ResultSize(of: picture, stages)
            let made =
                streaming(path, stages, result) + turning(path, result) + wholePictures(path, stages)
                + (path.frames > 1 ? 0 : cutPictures(path, stages[...]))
            return made + (path.frames > 1 ? frames(path, stages, result) : encoding(stages, result))
        }
        let kept = shared(decoding, stages) + (own.max() ?? 0)
        if let camera = source.camera, source.format == .raw {
            // LibRaw has freed its memory before the stages begin.
            let developed = decoding.isShared ? 0 : pixels / (path.shrink * path.shrink) * bytesPerPixel(of: path)
            return Int64(Self.worker + max(camera.developing(shrink: path.shrink), developed + kept))
        }
        return Int64(Self.worker + decoder(path) + kept)
    }

    /// Memory for the planes of the picture and of all results. Results are filtered and encoded one after another. So
    /// of the memory for these two steps, only the largest amount counts. A rotated result is kept twice.
    private func inPlanes(_ decoding: DecodePlan.Decoding, _ stages: [[Stage]]) -> Int64 {
        let path = decoding.path
        let results = decoding.outputs.map { stages[$0] }.map { stages in
            let result = ResultSize(of: picture, stages)
            let (stages, isMoved) = unmoved(stages)
            let save = stages.last.map(SaveStage.init)
            let hasFilters = stages.contains { $0.name != ResizeStage.name && $0.name != SaveStage.name }
            let next = stages.first { $0.name != ResizeStage.name }
            let isGrey = planes == nil || next.map { traits($0).contains(.lumaOnly) } == true
            let stored = next.flatMap(SaveStage.storedPlanes)
            let isRGB = !isGrey && stored == nil
            let samples = isGrey ? result.pixels : Int(Double(result.pixels) * (stored ?? .none).samples)
            let target = stages.first.flatMap(ResizeStage.init).map {
                $0.target(stored: picture.width, picture.height, isTurned: picture.orientation >= 5)
            }
            let isDecoded = target.map { path.reaches($0, of: picture.width, picture.height) } ?? true
            // The result's chroma may be subsampled differently from the file's.
            let keepsColours = isGrey || planes == stored
            let made = isDecoded ? (keepsColours ? 0 : samples - result.pixels) : samples
            let turned = picture.orientation > 1 || isMoved ? samples : 0
            let filtered = isRGB ? filteredRGB(stages, result) : hasFilters ? filteredGrey(path, stages, result) : 0
            let last =
                if let save, save.storesPlanes, !isRGB {
                    encodingPlanes(save, result, isGrey: isGrey, isMapped: hasFilters)
                } else { encoding(stages, result) }
            return (planes: made, own: turned + filtered + last)
        }
        let needed = results.map(\.planes).reduce(0, +) + (results.map(\.own).max() ?? 0)
        return Int64(Self.worker + decoder(path) + needed)
    }

    /// Removes the stages that the worker carries out by moving planes. Keeps filters that add a frame, because a frame
    /// may need RGB. The missing trait `wholePicture` identifies these filters.
    private func unmoved(_ stages: [Stage]) -> (stages: [Stage], isMoved: Bool) {
        let resize = stages.prefix { $0.name == ResizeStage.name }
        let rest = stages.dropFirst(resize.count)
        let left = rest.drop { movesPixels($0) && traits($0).contains(.wholePicture) }
        return (Array(resize + left), left.count < rest.count)
    }

    /// Memory of a luma picture and its filters.
    private func filteredGrey(_ path: DecoderPath, _ stages: [Stage], _ result: ResultSize) -> Int {
        result.pixels + streaming(path, stages, result) + wholePictures(path, stages)
            + cutPictures(path, stages.dropFirst())
    }

    /// Memory of the RGB picture that is made from planes after the resize, and of its filters.
    private func filteredRGB(_ stages: [Stage], _ result: ResultSize) -> Int {
        let whole = DecoderPath(colours: .all, shrink: 1, plainShrink: 1, reason: "")
        let rows = min(result.height, stages.contains(where: looksAround) ? 1300 : 700)
        return (result.pixels + rows * result.width) * bytesPerPixel + wholePictures(whole, stages)
            + cutPictures(whole, stages.dropFirst())
    }

    /// Memory for encoding planes. Planes are copied if their range changes. libwebp keeps ten two-byte numbers for
    /// each byte of its output, and a JPEG is kept twice. The length of the result is predicted from the length of the
    /// source, because noisy pictures have longer files than soft pictures. If the source is a PNG, its length predicts
    /// nothing, so the estimate assumes a noisy picture.
    private func encodingPlanes(_ save: SaveStage, _ result: ResultSize, isGrey: Bool, isMapped: Bool) -> Int {
        let isWebP = save.format == "webp"
        let isOfFullRange = isMapped || source.format != .webp
        // A WebP always has chroma, even if it is grey.
        let missing = isGrey && isWebP ? result.pixels / 2 : 0
        let samples = isGrey ? result.pixels : Int(Double(result.pixels) * save.sharedColours.samples)
        let copied = isWebP == isOfFullRange ? samples : 0
        let extended = !isWebP && (result.width % 2 == 1 || result.height % 2 == 1) ? result.pixels : 0
        let growth = save.isFine ? (isWebP ? 2.0 : 6) : (isWebP ? 1.2 : 1.5)
        let bytes = source.format == .png ? Double(pixels) / 2 : Double(source.size)
        let length = bytes * Double(result.pixels) / Double(pixels) * growth
        let kept =
            isWebP
            ? min(result.pixels * 26, Int(length * 22)) : min(result.pixels * (save.isFine ? 8 : 6), Int(length * 2))
        // The encoder keeps all coefficients of a progressive JPEG in memory, two bytes each.
        let coefficients = !isWebP && save.isProgressive ? samples * 2 : 0
        return missing + copied + extended + kept + coefficients + save.tried(result)
    }

    /// Memory of the decoded picture that several outputs share, and of all results except the smallest, because
    /// smaller results are made from larger results.
    private func shared(_ decoding: DecodePlan.Decoding, _ stages: [[Stage]]) -> Int {
        guard decoding.isShared else { return 0 }
        let sizes = decoding.outputs.map { ResultSize(of: picture, stages[$0]).pixels }.sorted()
        let decoded = pixels / (decoding.path.shrink * decoding.path.shrink)
        return (decoded + sizes.dropFirst().reduce(0, +)) * bytesPerPixel(of: decoding.path)
    }

    func bytesPerPixel(of path: DecoderPath) -> Int {
        switch path.colours {
        case .planes: Int((planes?.samples ?? 3).rounded(.up))
        case .storedLuma, .luma: picture.bytesPerSample * (hasAlpha ? 2 : 1)
        case .all: bytesPerPixel
        }
    }

    private var pixels: Int { picture.width * picture.height }
    private var bytesPerPixel: Int { picture.bands * picture.bytesPerSample }
    private var hasAlpha: Bool { picture.hasAlpha }

    /// Bytes of the rows that a streaming render keeps in memory at a time.
    private func streaming(_ path: DecoderPath, _ stages: [Stage], _ result: ResultSize) -> Int {
        let resizes = stages.contains { $0.name == ResizeStage.name }
        let looksAround = stages.contains(where: looksAround)
        let rows = min(picture.height / path.shrink, resizes || looksAround ? 1300 : 700)
        let width = max(picture.width / path.shrink, result.width)
        if path.colours == .storedLuma { return rows * width }
        guard hasAlpha else { return rows * width * bytesPerPixel }
        // Premultiplied samples are floating-point numbers, for all colours or for luma alone.
        let isGrey = stages.contains { traits($0).contains(.lumaOnly) }
        return rows * width * bytesPerPixel * (resizes ? (isGrey ? 2 : 3) : looksAround ? 2 : 1)
    }

    /// Whether a pixel of the filter's result depends on several input pixels, as in a blur.
    private func looksAround(_ stage: Stage) -> Bool {
        StageCatalog.builtIn[stage.name] == nil && !traits(stage).contains(.pointwise)
    }

    private func decoder(_ path: DecoderPath) -> Int {
        let decoded = pixels / (path.shrink * path.shrink)
        switch source.format {
        case .jpeg:
            let preview = source.camera != nil && !path.isOfPlanes ? source.size : 0
            return preview + coefficients + (path.isOfPlanes ? source.size + decoded * bytesPerPixel(of: path) : 0)
        case .png:
            return (isProgressive ? pixels * bytesPerPixel : 0) + (source.acceptsDamage ? 2 * source.size : 0)
                + (path.isOfPlanes ? pixels : 0)
        case .webp:
            // libwebp decodes luma at full size and chroma at half; shrunk planes need memory in addition.
            if path.isOfPlanes {
                return source.size + pixels * 3 / 2 + (path.shrink > 1 ? decoded * bytesPerPixel(of: path) : 0)
            }
            // A lossless picture is decoded at full size, then shrunk; alpha is always stored losslessly.
            let whole = hasAlpha || source.isLosslessWebP ? 4 * pixels + 4 * decoded : 0
            let canvas = (picture.integer("n-pages") ?? 1) > 1 ? 4 * decoded : 0
            return source.size + canvas + max(10 * decoded, whole)
        case .tiff:
            return source.tiffBlock(of: picture)
        case .gif:
            return source.size + 4 * pixels
        case .bmp:
            return (try? source.bmp)?.isCompressed == true ? source.size + pixels : 0
        case .raw:
            return 0
        case .heif where picture.bytesPerSample == 2 && Vips.libheif >= (1, 19):
            return source.size + (hasAlpha ? 13 : 11) * pixels
        case .heif, .avif:
            return source.size + (hasAlpha ? 9 : 8) * pixels * picture.bytesPerSample
        }
    }

    /// The coefficients of a progressive JPEG, two bytes each, which the decoder holds until the last scan.
    private var coefficients: Int {
        guard isProgressive else { return 0 }
        let halvesChroma = picture.bands == 3 && picture.text("jpeg-chroma-subsample") == "4:2:0"
        return halvesChroma ? pixels * 3 : pixels * picture.bands * 2
    }

    private func turning(_ path: DecoderPath, _ result: ResultSize) -> Int {
        guard picture.orientation > 2 else { return 0 }
        return result.pixels * bytesPerPixel(of: path)
    }

    /// Memory of whole pictures, for filters that request them. On a busy machine, a filter that reads neighbouring
    /// pixels needs a quarter more memory, because some rows must wait for other rows.
    private func wholePictures(_ path: DecoderPath, _ stages: [Stage]) -> Int {
        let bytes = bytesPerPixel(of: path)
        return stages.indices.filter { traits(stages[$0]).contains(.wholePicture) }
            .map { index in
                let kept = ResultSize(of: picture, Array(stages[..<index])).pixels * bytes
                return looksAround(stages[index]) ? kept * 5 / 4 : kept
            }.reduce(0, +)
    }

    /// Memory of pictures that are read completely before a resize crops rows.
    private func cutPictures(_ path: DecoderPath, _ stages: ArraySlice<Stage>) -> Int {
        guard source.isReadToItsEnd else { return 0 }
        return stages.indices.compactMap { index in
            guard let resize = ResizeStage(stages[index]) else { return nil }
            let size = ResultSize(of: picture, Array(stages[..<index]))
            let upright = resize.target(size.width, size.height)
            // The first resize works in the stored orientation.
            let target = index == 0 && picture.orientation >= 5 ? upright.turned : upright
            let read = index == 0 ? pixels / (path.shrink * path.shrink) : size.pixels
            return target.cutsRows ? min(target.pixels, read) * bytesPerPixel(of: path) : nil
        }.reduce(0, +)
    }

    private func encoding(_ stages: [Stage], _ result: ResultSize) -> Int {
        guard let save = stages.last.map(SaveStage.init) else { return 0 }
        // With `max-bytes=`, the pixels and the growing file are in memory, too.
        let kept = save.maxBytes == nil ? 0 : result.pixels * (bytesPerPixel + 2)
        return kept + save.tried(result) + encoder(save, result)
    }

    /// Memory for an animation: the result's first frame, the frame being encoded, and frames that encoders keep for
    /// comparison. A WebP encoder also keeps the file in memory until the file is complete. With `max-bytes=`, all
    /// frames are in memory.
    private func frames(_ path: DecoderPath, _ stages: [Stage], _ result: ResultSize) -> Int {
        guard let save = stages.last.map(SaveStage.init) else { return 0 }
        let (frame, all) = (result.pixels * 4, result.pixels * path.frames)
        let kept = save.maxBytes == nil ? 0 : all * 4
        let length = Int(Double(source.size) * Double(result.pixels) / Double(pixels))
        let file = save.format == "webp" ? min(all * 4, length * (save.isLossless ? 8 : 3)) : 0
        // A WebP's frames always have alpha.
        let encoder = file > 0 && !save.isLossless ? result.pixels * 36 : encoder(save, result)
        // A GIF's encoder compares a frame with earlier palettes, and with up to three other frames.
        let compared =
            save.format == "gif" ? min(18 << 20, result.pixels * 40) + result.pixels * 7 * min(3, path.frames) : 0
        return 4 * frame + pixels * 4 + kept + file + save.tried(result) + encoder + compared
    }

    private func encoder(_ save: SaveStage, _ result: ResultSize) -> Int {
        let colours = save.sharedColours == .none ? result.pixels * 20 : 0
        return switch save.format {
        case "avif" where Vips.isAtLeast(8, 16, 1):
            // Above five megapixels, libaom needs fewer bytes for each further pixel.
            min(result.pixels * 38, 55 << 20 + result.pixels * 26) + colours
        // With older versions of libvips, libaom reuses repeated parts of drawings. For a drawing, it therefore needs
        // four times as much memory as for a photograph.
        case "avif": 35 << 20 + result.pixels * 105 + colours
        case "webp" where save.isLossless: result.pixels * 34
        case "webp": result.pixels * (hasAlpha ? 36 : 8)
        case "jxl": jxl(save, result.pixels)
        // The encoder chooses the palette from a histogram of colours.
        case "gif": min(30 << 20, result.pixels * 20) + result.pixels * 7
        // The encoders keep all coefficients of a progressive JPEG, two bytes each, and all rows of an interlaced PNG.
        case "jpeg" where save.isProgressive: result.pixels * 2 * picture.bands
        case "png" where save.isProgressive: result.pixels * bytesPerPixel
        // The worker packs a megabyte of rows at a time, once filtered and once unfiltered.
        case "png": min(result.pixels * bytesPerPixel, 1 << 20) * 4
        default: 0
        }
    }

    /// Bytes that libjxl needs, including libvips' copy of the picture.
    private func jxl(_ save: SaveStage, _ pixels: Int) -> Int {
        let usual = 66 + bytesPerPixel + (hasAlpha ? 20 : 0)
        if save.isLossless {
            let wide = picture.bytesPerSample > 1 ? bytesPerPixel * 10 : 0
            return pixels * (usual + wide + (save.effort > 8 ? 105 : save.effort > 7 ? 60 : 37))
        }
        if save.effort > 6 { return pixels * (usual + (save.effort > 7 ? 250 : 37)) }
        guard Vips.isAtLeast(8, 16, 0) else { return pixels * usual }
        // Newer versions of libvips process a large picture in parts. With `max-bytes=`, several tries fragment the
        // heap.
        return min(pixels * usual, 70 << 20 + pixels * (usual - 32)) + (save.maxBytes == nil ? 0 : pixels * 25)
    }
}

extension SaveStage {
    /// Bytes of two files at or near the size limit, during the search for the best quality.
    fileprivate func tried(_ result: ResultSize) -> Int { maxBytes.map { min(3 * $0, result.pixels * 8) } ?? 0 }
}

extension SourceFile {
    /// Bytes of the strip, or the row of tiles, that libtiff decodes at a time.
    fileprivate func tiffBlock(of picture: Picture) -> Int {
        let (compression, rowsPerStrip, tileWidth, tileHeight) = (259, 278, 322, 323)
        guard let directory = tiffDirectory else { return 0 }
        if let width = directory.numbers(tileWidth).first, let height = directory.numbers(tileHeight).first, width > 0 {
            let across = (picture.width + width - 1) / width * width
            return 2 * min(height, 1 << 16) * min(across, 1 << 20) * picture.bands * picture.bytesPerSample
        }
        guard directory.numbers(compression).first != 1 else { return 0 }
        // For a strip, only its compressed bytes are in memory.
        let rows = min(directory.numbers(rowsPerStrip).first ?? picture.height, picture.height)
        return Int(Double(size) * Double(rows) / Double(max(1, picture.height)))
    }
}
