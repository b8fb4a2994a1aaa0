import CVips
import PipelineModel

/// The bytes of memory that rendering an output needs: what libvips' streaming was measured to take, and what those decoders,
/// turns and encoders add that hold a whole picture. `MemoryTests` holds it against what a worker's peak really is.
struct MemoryEstimate {
    let picture: Picture
    let source: SourceFile
    let isProgressive: Bool
    let traits: (String) -> Set<StageTrait>

    /// A worker that has rendered something small.
    private static let worker = 58 << 20

    func bytes(_ path: DecoderPath, _ stages: [Stage]) -> Int64 {
        let result = ResultSize(of: picture, stages)
        return Int64(
            Self.worker + streaming(path, stages, result) + decoding(path) + turning(path, result)
                + holding(path, stages)
                + encoding(stages, result))
    }

    private var pixels: Int { picture.width * picture.height }
    private var bytesPerPixel: Int { picture.bands * picture.bytesPerSample }
    private var hasAlpha: Bool { picture.hasAlpha }

    /// The rows that are in memory at a time.
    private func streaming(_ path: DecoderPath, _ stages: [Stage], _ result: ResultSize) -> Int {
        let resizes = stages.contains { $0.name == ResizeStage.name }
        let looksAround = stages.contains(where: looksAround)
        let rows = min(picture.height / path.shrink, resizes || looksAround ? 1300 : 700)
        let width = max(picture.width / path.shrink, result.width)
        if case .grey = path { return rows * width }
        // Premultiplied samples are floating numbers.
        return rows * width * bytesPerPixel * (!hasAlpha ? 1 : looksAround ? 4 : resizes ? 3 : 1)
    }

    /// Whether it is a filter in which a pixel of the result depends on several of the input, as in a blur.
    private func looksAround(_ stage: Stage) -> Bool {
        StageCatalog.builtIn[stage.name] == nil && !traits(stage.name).contains(.pointwise)
    }

    private func decoding(_ path: DecoderPath) -> Int {
        let decoded = pixels / (path.shrink * path.shrink)
        switch source.format {
        case .jpeg:
            guard case .grey = path else { return coefficients }
            return coefficients + source.size + decoded
        case .png:
            return isProgressive ? pixels * bytesPerPixel : 0
        case .webp:
            // Without loss it is decoded at full size, then shrunk; alpha is always stored so.
            let whole = hasAlpha || source.isLosslessWebP ? 4 * pixels + 4 * decoded : 0
            let canvas = (picture.integer("n-pages") ?? 1) > 1 ? 4 * decoded : 0
            return source.size + canvas + max(10 * decoded, whole)
        case .tiff:
            return source.tiffBlock(of: picture)
        case .gif:
            return source.size + 4 * pixels
        case .heif, .avif:
            return source.size + (hasAlpha ? 9 : 8) * pixels * picture.bytesPerSample
        }
    }

    /// A progressive JPEG's, two bytes each, held until the last scan.
    private var coefficients: Int {
        guard isProgressive else { return 0 }
        let halvesChroma = picture.bands == 3 && picture.text("jpeg-chroma-subsample") == "4:2:0"
        return halvesChroma ? pixels * 3 : pixels * picture.bands * 2
    }

    private func turning(_ path: DecoderPath, _ result: ResultSize) -> Int {
        guard picture.orientation > 2 else { return 0 }
        if case .grey = path { return result.pixels }
        return result.pixels * bytesPerPixel
    }

    /// What lies in memory as a whole, for the filters that ask for it.
    private func holding(_ path: DecoderPath, _ stages: [Stage]) -> Int {
        var bytes = bytesPerPixel
        if case .grey = path { bytes = 1 }
        return stages.indices.filter { traits(stages[$0].name).contains(.wholePicture) }
            .map { ResultSize(of: picture, Array(stages[..<$0])).pixels * bytes }.reduce(0, +)
    }

    private func encoding(_ stages: [Stage], _ result: ResultSize) -> Int {
        switch stages.last.map({ SaveStage($0).format }) {
        // What is drawn, rather than photographed, takes the most: four times as much as a photograph.
        case "avif": 35 << 20 + result.pixels * 105
        case "webp": result.pixels * (hasAlpha ? 36 : 8)
        default: 0
        }
    }
}

extension SourceFile {
    /// The strip or row of tiles that is decoded at a time.
    fileprivate func tiffBlock(of picture: Picture) -> Int {
        let (compression, rowsPerStrip, tileWidth, tileHeight) = (259, 278, 322, 323)
        guard let directory = tiffDirectory else { return 0 }
        if let width = directory.numbers(tileWidth).first, let height = directory.numbers(tileHeight).first, width > 0 {
            let across = (picture.width + width - 1) / width * width
            return 2 * min(height, 1 << 16) * min(across, 1 << 20) * picture.bands * picture.bytesPerSample
        }
        guard directory.numbers(compression).first != 1 else { return 0 }
        // Of a strip its compressed bytes alone are held.
        let rows = min(directory.numbers(rowsPerStrip).first ?? picture.height, picture.height)
        return Int(Double(size) * Double(rows) / Double(max(1, picture.height)))
    }
}
