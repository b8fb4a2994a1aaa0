import CVips
import PipelineModel
import SystemCalls
import WorkerProtocol

/// A picture whose header has been read, and the way from it to each of its outputs.
struct OpenPicture {
    let header: PictureHeader
    private let source: SourceFile
    private let outputs: [RenderOutput]
    private let paths: [DecoderPath]
    private let filters: FilterLibrary
    private let cancellation: Cancellation

    /// Reads the header, and decides by it, before any pixel.
    init(
        _ request: OpenRequest, _ descriptor: Descriptor, filters: FilterLibrary, cancellation: Cancellation
    ) throws {
        source = try SourceFile(descriptor, name: request.name)
        outputs = request.outputs
        self.filters = filters
        self.cancellation = cancellation
        let picture = try source.picture()
        let pages = picture.integer("n-pages") ?? 1
        let pixels = Int64(picture.width) * Int64(picture.height)
        guard pixels <= request.maxPixels else {
            throw WorkerFailure(
                stage: "open",
                message:
                    "\(picture.width) × \(picture.height) are \(pixels) pixels, more than MaxPixels=\(request.maxPixels)",
                advice: "raise MaxPixels in [Daemon] if this picture is to be trusted, then `pipectl retry`")
        }
        let profile = picture.blob("icc-profile-data").flatMap(ICCProfile.init)
        let isPlain = picture.format == VIPS_FORMAT_UCHAR && (profile.map(\.isSRGB) ?? true)
        let hasLuma = try source.format == .jpeg && isPlain && GreyJPEG.isPossible(source.bytes())
        let facts = DecoderPath.Facts(
            format: source.format, width: picture.width, height: picture.height,
            isTurned: picture.orientation >= 5, hasLuma: hasLuma)
        paths = outputs.map { output in
            DecoderPath.choose(facts, output.stages) { filters.filters[$0]?.description.traits ?? [] }
        }
        let progressive = (picture.integer("interlaced") ?? picture.integer("jpeg-multiscan") ?? 0) != 0
        header = PictureHeader(
            format: source.format.rawValue, width: picture.width, height: picture.height, bands: picture.bands,
            bitsPerSample: picture.bytesPerSample * 8, pages: pages, orientation: picture.orientation,
            profile: profile?.name, progressive: progressive, decoderPaths: paths.map(\.description),
            memory: Self.memory(picture, source.format, progressive: progressive))
    }

    /// Renders one output into `target`.
    func render(_ index: Int, into target: Descriptor) throws -> RenderedOutput {
        var stages = outputs[index].stages[...]
        var picture = try read(index)
        if let first = stages.first, let resize = ResizeStage(first) {
            stages = stages.dropFirst()
            // In the orientation in which it is stored: turning the smaller picture is cheaper.
            let target = resize.target(stored: header.width, header.height, isTurned: header.orientation >= 5)
            picture = try within(ResizeStage.name) { try resize.apply(target, to: picture) }
        }
        picture = try within("open") { try picture.upright(cancellation).inStandardColours() }
        for stage in stages {
            if let resize = ResizeStage(stage) {
                let target = resize.target(picture.width, picture.height)
                picture = try within(stage.name) { try resize.apply(target, to: picture) }
            } else if let filter = filters.filters[stage.name] {
                picture = try filter.apply(stage, to: picture)
            } else if stage.name == SaveStage.name {
                return try within(SaveStage.name) {
                    try SaveStage(stage).apply(to: picture, into: target, cancellation)
                }
            } else {
                throw WorkerFailure(
                    stage: stage.name, message: "this filter is not loaded any more",
                    advice: "put its plugin back, `pipectl reload`, then `pipectl retry`")
            }
        }
        throw WorkerFailure(stage: SaveStage.name, message: "the chain doesn't end in save")
    }

    private func read(_ index: Int) throws -> Picture {
        try within("open") {
            switch paths[index] {
            case .grey(let shrink):
                guard let grey = try GreyJPEG.decode(source.bytes(), shrink: shrink) else {
                    return try source.picture(shrink: shrink)
                }
                let fields = try source.picture()
                for name in fields.fieldNames where fields.carries(name) { grey.copyField(name, from: fields) }
                return grey
            case .shrunk(let shrink): return try source.picture(shrink: shrink)
            case .whole: return try source.picture()
            }
        }
    }

    /// Gives what libvips says the name of the stage in which it said so. A lazy pipeline reads while it saves.
    private func within<Result>(_ stage: String, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as VipsError {
            if stage == SaveStage.name, !error.isOfWriting { throw Self.unreadable(error) }
            throw stage == "open" ? Self.unreadable(error) : WorkerFailure(stage: stage, message: error.reason)
        }
    }

    static func unreadable(_ error: VipsError) -> WorkerFailure {
        let words = error.description.lowercased()
        let isShort = ["premature", "truncated", "unexpected end", "end of file", "not enough", "out of order"]
            .contains(where: words.contains)
        return WorkerFailure(
            stage: "open",
            message: isShort
                ? "the picture is incomplete (\(error.reason))" : "the picture can't be read (\(error.reason))",
            advice: isShort ? "copy it again: its end is missing" : "open it in another program and save it afresh")
    }

    /// Bytes needed: measured for libvips' streaming, and for those decoders that hold a whole picture.
    private static func memory(_ picture: Picture, _ format: SourceFormat, progressive: Bool) -> Int64 {
        let pixels = Int64(picture.width) * Int64(picture.height)
        let decoded = pixels * Int64(picture.bands * picture.bytesPerSample)
        let whole: Int64 =
            switch format {
            case .jpeg where progressive: pixels * 3
            case .jpeg, .tiff: 0
            case .png: progressive ? decoded : 0
            case .webp, .gif, .heif, .avif: decoded
            }
        let turned = picture.orientation > 2 ? decoded : 0
        return 64 << 20 + Int64(picture.width) * 512 + whole + turned
    }
}

extension Picture {
    /// Fields of the file, as opposed to those of the pixels.
    func carries(_ name: String) -> Bool {
        ["exif-", "xmp-", "iptc-", "photoshop-", "orientation", "resolution-unit"].contains(where: name.hasPrefix)
    }
}
