import CVips
import PipelineModel
import SystemCalls
import WorkerProtocol

/// A picture whose header has been read, and the way from it to each of its outputs.
struct OpenPicture {
    let header: PictureHeader
    private let source: SourceFile
    /// The picture's header; no pixel of it is read.
    private let file: Picture
    /// The original of a picture that came over a barrier: it has everything but the pixels.
    private let original: SourceFile?
    /// The outputs, with their stages in the order in which they run.
    private let outputs: [RenderOutput]
    private let plan: DecodePlan
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
        (self.source, self.filters, self.cancellation) = (source, filters, cancellation)
        maxPixels = request.maxPixels
        let picture = try source.reading { try source.picture() }
        file = picture
        // Only the first of several pages is decoded, so its height counts.
        let pixels = Int64(picture.width) * Int64(picture.height)
        guard pixels <= request.maxPixels else {
            throw WorkerFailure(
                stage: "open",
                message:
                    "\(picture.width) × \(picture.height) are \(pixels) pixels, more than MaxPixels=\(request.maxPixels)",
                advice: "raise MaxPixels in [Daemon] if this picture is to be trusted, then pipectl retry")
        }
        for stages in outputs.map(\.stages) {
            // Behind a filter that changes the size, sizes are known and checked only during the render.
            let known = stages.prefix { !filters.traits($0.name).contains(.changesSize) }
            for end in known.indices where known[end].name == ResizeStage.name {
                try ResultSize(of: picture, Array(known[...end])).check(maxPixels: maxPixels)
            }
            guard known.count == stages.count else { continue }
            try ResultSize(of: picture, stages).check(stages.last.map { SaveStage($0).format } ?? "")
        }
        let profile = picture.blob(ICCProfile.field).flatMap(ICCProfile.init)
        let (luma, planes) = try source.planes(picture)
        let facts = SourceFacts(
            format: source.format, length: source.size, width: picture.width, height: picture.height,
            isTurned: picture.orientation >= 5, isGrey: picture.bands == 1, luma: luma,
            planes: planes, shrinks: source.shrinks)
        let isProgressive = (picture.integer("interlaced") ?? picture.integer("jpeg-multiscan") ?? 0) != 0
        let estimate = MemoryEstimate(
            picture: picture, source: source, planes: facts.planes, isProgressive: isProgressive, traits: filters.traits
        )
        let ordered = outputs.map { facts.ordered($0, filters.traits) }
        self.outputs = ordered
        plan = DecodePlan(
            ordered.map { DecoderPath.choose(facts, $0.stages, filters.traits) }, of: facts,
            bytesPerPixel: estimate.bytesPerPixel(of:))
        header = PictureHeader(
            format: source.format.rawValue, width: picture.width, height: picture.height, bands: picture.bands,
            bitsPerSample: picture.bytesPerSample * 8, pages: source.pictures(among: picture.integer("n-pages") ?? 1),
            orientation: picture.orientation, profile: profile?.name, progressive: isProgressive,
            decoderPaths: plan.words,
            // The decodings come one after the other.
            memory: plan.decodings.map { estimate.bytes($0, ordered.map(\.stages)) }.max() ?? 0)
    }

    /// The picture's pixels, once for each output.
    var pixelsToRead: Int64 { Int64(header.width) * Int64(header.height) * Int64(outputs.count) }

    /// How often pixels flow: once for each output; before that into memory, when the picture has to be turned or a
    /// filter needs all of it; and once for a decoding that several outputs share. Brief evaluations are not counted.
    var evaluations: Int {
        let wholePictures = outputs.flatMap(\.stages).count { filters.traits($0.name).contains(.wholePicture) }
        return outputs.count * (Picture.needsMemory(toTurn: header.orientation) ? 2 : 1)
            + wholePictures + plan.decodings.count(where: \.isShared)
    }

    /// The work of all encoders after the last pixel. One evaluation of the pixels counts as 1.
    var encoding: Double { outputs.compactMap { $0.stages.last.map(SaveStage.init)?.encoding }.reduce(0, +) }

    func render(into targets: [Descriptor]) throws -> [RenderedOutput] {
        var results: [Int: RenderedOutput] = [:]
        for decoding in try plan.decodings.flatMap({ try renderPlanes($0, into: targets, &results) }) {
            var decoded = DecodedPicture(try decode(decoding))
            var outputs = decoding.outputs.sorted { pixels(of: $0) > pixels(of: $1) }[...]
            while let index = outputs.popFirst() {
                results[index] = try render(index, from: &decoded, before: outputs, into: targets[index])
            }
        }
        return targets.indices.compactMap { results[$0] }
    }

    /// Renders the outputs of a decoding that stay in planes. Returns the decodings that are left: of an odd file, one
    /// for each of its outputs, which libvips decodes.
    private func renderPlanes(
        _ decoding: DecodePlan.Decoding, into targets: [Descriptor], _ results: inout [Int: RenderedOutput]
    ) throws -> [DecodePlan.Decoding] {
        guard decoding.path.colours == .planes else { return [decoding] }
        try cancellation.check()
        guard let planes = try JPEGPlanes.decode(source.bytes(), shrink: decoding.path.shrink) else {
            return decoding.outputs.map { DecodePlan.Decoding(path: decoding.path, outputs: [$0]) }
        }
        if decoding.isShared { cancellation.progress.passed(1) }
        var kept: [Planes] = []
        for index in decoding.outputs.sorted(by: { pixels(of: $0) > pixels(of: $1) }) {
            try cancellation.check()
            guard let save = outputs[index].stages.last.map(SaveStage.init) else { continue }
            let target = target(of: index) ?? .whole(header.width, header.height)
            let start = kept.last { target.isServed(by: $0.luma.width, $0.luma.height) } ?? planes
            guard let made = start.made(target, save.sharedColours, orientation: header.orientation) else {
                throw WorkerFailure(stage: ResizeStage.name, message: "there is no memory for the result")
            }
            if !target.isCropped, header.orientation == 1 { kept.append(made) }
            try cancellation.check()
            let encoded = try source.reading { try save.apply(to: made, of: file, into: targets[index]) }
            results[index] = try SavedFile.check(targets[index], against: encoded, format: save.format)
            cancellation.progress.passed(Picture.needsMemory(toTurn: header.orientation) ? 2 : 1)
        }
        return []
    }

    private func render(
        _ index: Int, from decoded: inout DecodedPicture, before others: ArraySlice<Int>, into target: Descriptor
    ) throws -> RenderedOutput {
        var stages = outputs[index].stages[...]
        var picture = decoded.picture(for: nil)
        if let first = stages.first, let resize = ResizeStage(first) {
            stages = stages.dropFirst()
            picture = try resized(resize, from: &decoded, before: others)
        }
        picture = try source.reading { try picture.upright(cancellation).inStandardColours() }
        if let original {
            picture = try original.reading { try Metadata.copy(from: original.picture(), to: picture) }
            // The picture is upright already.
            picture.removeField("orientation")
        }
        while let stage = stages.popFirst() {
            if let resize = ResizeStage(stage) {
                let target = resize.target(picture.width, picture.height)
                try ResultSize(width: target.cropWidth, height: target.cropHeight).check(maxPixels: maxPixels)
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
                let encoded = try source.reading {
                    let encoded = try save.apply(to: picture, into: target, cancellation)
                    try refuseDamage()
                    return encoded
                }
                return try SavedFile.check(target, against: encoded, format: save.format)
            } else {
                throw WorkerFailure(
                    stage: stage.name, message: "this filter is not loaded any more", advice: "put its plugin back",
                    class: .configuration)
            }
        }
        throw WorkerFailure(stage: SaveStage.name, message: "the chain doesn't end in save")
    }

    /// A file that somebody wrote to meanwhile has given neither its old nor its new picture.
    func refuseChange() throws {
        guard try source.hasChanged() else { return }
        throw WorkerFailure(
            stage: "open", message: "the file was written to while it was read",
            advice: "when it is whole: pipectl retry")
    }

    /// The target in the stored orientation: turning the smaller picture is cheaper.
    private func target(_ resize: ResizeStage) -> ResizeStage.Target {
        resize.target(stored: header.width, header.height, isTurned: header.orientation >= 5)
    }

    private func target(of output: Int) -> ResizeStage.Target? {
        outputs[output].stages.first.flatMap(ResizeStage.init).map(target)
    }

    private func pixels(of output: Int) -> Int {
        target(of: output).map { $0.width * $0.height } ?? header.width * header.height
    }

    /// Resizes the decoded pixels, or the picture of an earlier output, and keeps the result for later outputs that can
    /// use it.
    private func resized(
        _ resize: ResizeStage, from decoded: inout DecodedPicture, before others: ArraySlice<Int>
    ) throws -> Picture {
        let target = target(resize)
        let start = decoded.picture(for: resize.mayShrinkWhileDecoding ? target : nil)
        let picture = try within(ResizeStage.name) { try resize.apply(target, to: start) }
        let isWanted = others.contains { other in
            self.target(of: other)?.isServed(by: target.width, target.height) ?? false
        }
        guard isWanted, !target.isCropped else { return picture }
        let kept = try source.reading { try cancellation.guarding(picture, picture.inMemory) }
        decoded.keep(kept)
        return kept
    }

    private func decode(_ decoding: DecodePlan.Decoding) throws -> Picture {
        try source.reading {
            let picture = try read(decoding.path).inUsualSamples { part in
                try part(read(decoding.path)).largestSample(cancellation)
            }
            guard decoding.isShared else { return picture }
            let pixels = try picture.inMemory(cancellation)
            try refuseDamage()
            return pixels
        }
    }

    private func read(_ path: DecoderPath) throws -> Picture {
        switch path.colours {
        case .all: return try shrunk(path.shrink)
        case .planes: return try source.picture()
        // A profile for grey did not count until now.
        case .luma: return try shrunk(path.shrink).withoutProfile().luma()
        case .storedLuma:
            try cancellation.check()
            guard let grey = try source.storedLuma(shrink: path.shrink) else {
                // The file may be damaged: libvips' own decoder decides whether too much so.
                return try source.picture()
            }
            try cancellation.check()
            return try Metadata.copy(from: file, to: grey)
        }
    }

    private func shrunk(_ shrink: Int) throws -> Picture {
        guard source.format == .tiff, shrink > 1 else { return try source.picture(shrink: shrink) }
        // The smaller copy is read once for errors before it is used. If it is damaged, the picture itself may still be
        // whole.
        guard try canRead(shrink) else { return try source.picture() }
        // Smaller copies carry metadata as their writer liked; the picture's own is taken.
        let whole = try Metadata.copy(from: file, to: source.picture(shrink: shrink))
        whole.copyField(ICCProfile.field, from: file)
        return whole
    }

    private func canRead(_ shrink: Int) throws -> Bool {
        do {
            _ = try source.picture(shrink: shrink).largestSample(cancellation)
            return true
        } catch is VipsError {
            return false
        }
    }

    /// A JPEG's decoder goes on over damage, leaves grey or shifted blocks behind, and succeeds with a warning. Extra
    /// bytes between markers do no harm: some cameras write them.
    private func refuseDamage() throws {
        guard !source.acceptsDamage else { return }
        let grumble = VipsError.take()
        let isDamage = grumble.lines.contains { $0.contains("Corrupt JPEG data") && !$0.contains("extraneous bytes") }
        if isDamage { throw grumble }
    }

    private func applying<Result>(_ filters: [String], _ body: () throws -> Result) throws -> Result {
        try within(filters.joined(separator: " + ")) { try FilterHost.applying(filters, body) }
    }

    /// Puts the stage's name on a failure of libvips.
    private func within<Result>(_ stage: String, _ body: () throws -> Result) throws -> Result {
        do { return try body() } catch let error as VipsError {
            throw WorkerFailure(stage: stage, message: error.reason)
        }
    }
}

extension SourceFile {
    /// The way to the picture's luma, and the way in which its planes share colours, if these are sRGB's.
    fileprivate func planes(_ picture: Picture) throws -> (luma: SourceFacts.Luma, shared: Planes.Subsampling?) {
        if let profile = picture.profile, !profile.isSRGB {
            return (.none("its profile\(profile.name.map { ", \($0)," } ?? "") comes first"), nil)
        }
        guard picture.hasPlainColours else { return (.none("its colours have to be made plain first"), nil) }
        let stored = try storedPlanes
        return (stored.luma ? .stored : .made, stored.colours)
    }
}

extension SourceFacts {
    /// The output, with movable filters behind a resize which makes the picture smaller.
    fileprivate func ordered(_ output: RenderOutput, _ traits: (String) -> Set<StageTrait>) -> RenderOutput {
        var result = output
        result.stages = ResizeFirst.order(output.stages, traits: traits)
        guard let target = result.stages.first.flatMap(ResizeStage.init).map(target) else { return output }
        return target.width * target.height < width * height ? result : output
    }
}
