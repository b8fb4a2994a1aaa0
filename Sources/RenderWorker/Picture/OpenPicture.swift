import CVips
import PipelineModel
import SystemCalls
import WorkerProtocol

/// A picture whose header has been read, and the way from it to each of its outputs.
struct OpenPicture {
    let header: PictureHeader
    private let source: SourceFile
    /// Where the pixels come from was made of this: it has what a picture carries beside them.
    private let original: SourceFile?
    private let outputs: [RenderOutput]
    private let paths: [DecoderPath]
    private let filters: FilterLibrary
    private let cancellation: Cancellation
    private let maxPixels: Int64

    /// Reads the header, and decides by it, before any pixel.
    init(
        _ request: OpenRequest, _ outputs: [RenderOutput], _ descriptor: Descriptor, original: Descriptor? = nil,
        filters: FilterLibrary, cancellation: Cancellation
    ) throws {
        self.original = try original.map { try SourceFile($0, name: request.name, accepting: true) }
        let source = try SourceFile(descriptor, name: request.name, accepting: request.onTruncated == .accept)
        self.source = source
        self.outputs = outputs
        self.filters = filters
        self.cancellation = cancellation
        maxPixels = request.maxPixels
        let picture = try source.reading { try source.picture() }
        // As high as all pages that are decoded: of several the first alone is.
        let pixels = Int64(picture.width) * Int64(picture.height)
        guard pixels <= request.maxPixels else {
            throw WorkerFailure(
                stage: "open",
                message:
                    "\(picture.width) × \(picture.height) are \(pixels) pixels, more than MaxPixels=\(request.maxPixels)",
                advice: "raise MaxPixels in [Daemon] if this picture is to be trusted, then pipectl retry")
        }
        for stages in outputs.map(\.stages) {
            // A filter that changes the size is looked at when it has.
            guard !stages.contains(where: { filters.traits($0.name).contains(.changesSize) }) else { continue }
            try ResultSize(of: picture, stages).check(stages.last.map { SaveStage($0).format } ?? "")
        }
        let profile = picture.blob("icc-profile-data").flatMap(ICCProfile.init)
        let facts = DecoderPath.Facts(
            format: source.format, width: picture.width, height: picture.height,
            isTurned: picture.orientation >= 5, hasLuma: try source.hasLuma(picture, profile))
        paths = outputs.map { output in
            DecoderPath.choose(facts, output.stages, filters.traits)
        }
        let isProgressive = (picture.integer("interlaced") ?? picture.integer("jpeg-multiscan") ?? 0) != 0
        let estimate = MemoryEstimate(
            picture: picture, source: source, isProgressive: isProgressive, traits: filters.traits)
        header = PictureHeader(
            format: source.format.rawValue, width: picture.width, height: picture.height, bands: picture.bands,
            bitsPerSample: picture.bytesPerSample * 8, pages: picture.integer("n-pages") ?? 1,
            orientation: picture.orientation, profile: profile?.name, progressive: isProgressive,
            decoderPaths: paths.map(\.description),
            // One output is made after the other.
            memory: zip(paths, outputs).map { estimate.bytes($0, $1.stages) }.max() ?? 0)
    }

    /// Those of the picture, once for each output.
    var pixelsToRead: Int64 { Int64(header.width) * Int64(header.height) * Int64(outputs.count) }

    /// How often pixels are made to flow: once for each output, and before that into memory when the picture has to be turned.
    var evaluations: Int { outputs.count * (Picture.needsMemory(toTurn: header.orientation) ? 2 : 1) }

    /// Renders one output into `target`.
    func render(_ index: Int, into target: Descriptor) throws -> RenderedOutput {
        var stages = outputs[index].stages[...]
        var picture = try source.reading { try read(paths[index]).withUsualIntegers() }
        if let first = stages.first, let resize = ResizeStage(first) {
            stages = stages.dropFirst()
            // In the orientation in which it is stored: turning the smaller picture is cheaper.
            let target = resize.target(stored: header.width, header.height, isTurned: header.orientation >= 5)
            picture = try within(ResizeStage.name) { try resize.apply(target, to: picture) }
        }
        picture = try source.reading { try picture.upright(cancellation).inStandardColours() }
        if let original {
            picture = try original.reading { try Metadata.copy(from: original.picture(), to: picture) }
            // It is upright already.
            picture.removeField("orientation")
        }
        while let stage = stages.popFirst() {
            if let resize = ResizeStage(stage) {
                let target = resize.target(picture.width, picture.height)
                picture = try within(stage.name) { try resize.apply(target, to: picture) }
            } else if let table = filters.table([stage] + stages, of: picture) {
                stages = stages.dropFirst(table.stages.count - 1)
                picture = try applying(table.stages.map(\.stage.name)) { try table.apply(to: picture, cancellation) }
            } else if let filter = filters.filters[stage.name] {
                if filters.traits(stage.name).contains(.wholePicture) {
                    picture = try source.reading { try picture.inMemory(cancellation) }
                }
                picture = try applying([stage.name]) { try filter.apply(stage, to: picture, maxPixels: maxPixels) }
            } else if stage.name == SaveStage.name {
                let save = SaveStage(stage)
                try source.reading {
                    try save.apply(to: picture, into: target, cancellation)
                    try refuseDamage()
                }
                return try SavedFile.check(target, against: picture, format: save.format)
            } else {
                throw WorkerFailure(
                    stage: stage.name, message: "this filter is not loaded any more", advice: "put its plugin back",
                    class: .configuration)
            }
        }
        throw WorkerFailure(stage: SaveStage.name, message: "the chain doesn't end in save")
    }

    /// What was read while somebody wrote to it is neither what it was nor what it is.
    func refuseChange() throws {
        guard try source.hasChanged() else { return }
        throw WorkerFailure(
            stage: "open", message: "the file was written to while it was read",
            advice: "when it is whole: pipectl retry")
    }

    private func read(_ path: DecoderPath) throws -> Picture {
        guard case .grey(let shrink) = path else { return try source.picture(shrink: path.shrink) }
        try cancellation.check()
        guard let grey = GreyJPEG.decode(try source.bytes(), shrink: shrink) else {
            // Damaged, perhaps: libvips' own way decides whether too much so.
            return try source.picture()
        }
        try cancellation.check()
        return try Metadata.copy(from: source.picture(), to: grey)
    }

    /// A JPEG's decoder goes on over damage, leaves grey or shifted blocks behind, and succeeds with a grumble. Extra bytes
    /// between markers do no harm: some cameras write them.
    private func refuseDamage() throws {
        guard !source.acceptsDamage else { return }
        let grumble = VipsError.take()
        let isDamage = grumble.lines.contains { $0.contains("Corrupt JPEG data") && !$0.contains("extraneous bytes") }
        if isDamage { throw grumble }
    }

    private func applying<Result>(_ filters: [String], _ body: () throws -> Result) throws -> Result {
        try within(filters.joined(separator: " + ")) { try FilterHost.applying(filters, body) }
    }

    /// Gives what libvips says the name of the stage in which it said so.
    private func within<Result>(_ stage: String, _ body: () throws -> Result) throws -> Result {
        do { return try body() } catch let error as VipsError {
            throw WorkerFailure(stage: stage, message: error.reason)
        }
    }
}

extension SourceFile {
    /// Whether its first component is the luma of sRGB, 8 bit: then that alone can be decoded.
    fileprivate func hasLuma(_ picture: Picture, _ profile: ICCProfile?) throws -> Bool {
        guard format == .jpeg, size <= GreyJPEG.largestFile, picture.format == VIPS_FORMAT_UCHAR else { return false }
        guard profile.map(\.isSRGB) ?? !picture.hasField("icc-profile-data") else { return false }
        return GreyJPEG.isPossible(try bytes(GreyJPEG.headerLength))
    }
}
