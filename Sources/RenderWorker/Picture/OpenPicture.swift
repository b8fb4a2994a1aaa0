import CVips
import PipelineModel
import SystemCalls
import WorkerProtocol

/// A picture whose header has been read, and the way from it to each of its outputs.
struct OpenPicture {
    let header: PictureHeader
    private let plan: DecodePlan
    private let rendering: Rendering

    /// Reads the header, and decides by it, before any pixel.
    init(
        _ request: OpenRequest, _ outputs: [RenderOutput], _ descriptor: Descriptor, original: Descriptor? = nil,
        filters: FilterLibrary, resizers: Resizers, cancellation: Cancellation
    ) throws {
        let original = try original.map { try SourceFile($0, name: request.name, accepting: true, raw: request.raw) }
        var source = try SourceFile(
            descriptor, name: request.name, accepting: request.onTruncated == .accept, raw: request.raw)
        let outputs = outputs.map { [source] in $0.saved(like: (original ?? source).format) }
        let changesSize = { (stage: Stage) in filters.traits(stage.name).contains(.changesSize) }
        try source.camera?.check(outputs.map(\.stages), changesSize: changesSize)
        source.camera?.is16Bit = outputs.contains { $0.stages.last.map(SaveStage.init)?.holds16Bits ?? false }
        let picture = try source.reading { [source] in try source.picture() }
        // Only the first of several pages is decoded, so its height counts.
        let pixels = max(Int64(picture.width) * Int64(picture.height), source.camera?.pixels ?? 0)
        guard pixels <= request.maxPixels else {
            throw WorkerFailure(
                stage: "open",
                message:
                    "\(picture.width) × \(picture.height) are \(pixels) pixels, more than MaxPixels=\(request.maxPixels)",
                advice: "raise MaxPixels in [Daemon] if this picture is to be trusted, then pipectl retry")
        }
        for stages in outputs.map(\.stages) {
            // Behind a filter that changes the size, sizes are known and checked only during the render.
            let known = stages.prefix { !changesSize($0) }
            for end in known.indices where known[end].name == ResizeStage.name {
                try ResultSize(of: picture, Array(known[...end])).check(maxPixels: request.maxPixels)
            }
            guard known.count == stages.count else { continue }
            try ResultSize(of: picture, stages).check(stages.last.map { SaveStage($0).format } ?? "")
        }
        let profile = picture.blob(ICCProfile.field).flatMap(ICCProfile.init)
        let (luma, planes) = try source.planes(picture)
        let facts = SourceFacts(
            format: source.format, length: source.size, width: picture.width, height: picture.height,
            isTurned: picture.orientation >= 5, isGrey: picture.bands == 1, luma: luma,
            planes: planes, shrinks: source.shrinks, camera: source.camera?.words)
        let isProgressive = (picture.integer("interlaced") ?? picture.integer("jpeg-multiscan") ?? 0) != 0
        let estimate = MemoryEstimate(
            picture: picture, source: source, planes: facts.planes, isProgressive: isProgressive, traits: filters.traits
        )
        let ordered = outputs.map { facts.ordered($0, filters.traits) }
        plan = DecodePlan(
            ordered.map(\.stages), of: facts, filters.traits, bytesPerPixel: estimate.bytesPerPixel(of:))
        header = PictureHeader(
            format: source.camera?.kind ?? source.format.rawValue, width: picture.width, height: picture.height,
            bands: picture.bands,
            bitsPerSample: picture.bytesPerSample * 8, pages: source.pictures(among: picture.integer("n-pages") ?? 1),
            orientation: picture.orientation, profile: profile?.name, progressive: isProgressive,
            decoderPaths: plan.words,
            // The decodings come one after the other.
            memory: plan.decodings.map { estimate.bytes($0, ordered.map(\.stages)) }.max() ?? 0)
        rendering = Rendering(
            source: source, file: picture, original: original, outputs: ordered, filters: filters,
            resizers: resizers, cancellation: cancellation, maxPixels: request.maxPixels)
    }

    /// The picture's pixels, once for each output.
    var pixelsToRead: Int64 { Int64(header.width) * Int64(header.height) * Int64(rendering.outputs.count) }

    /// How often pixels flow: once for each output; before that into memory, when the picture has to be turned or a
    /// filter needs all of it; and once for a decoding that several outputs share or that
    /// develops samples. Brief evaluations are not counted.
    var evaluations: Int {
        let wholePictures = rendering.outputs.flatMap(\.stages).count {
            rendering.filters.traits($0.name).contains(.wholePicture)
        }
        return rendering.outputs.count * (Picture.needsMemory(toTurn: header.orientation) ? 2 : 1)
            + wholePictures + plan.decodings.count(where: \.isShared)
            + (rendering.source.format == .raw ? plan.decodings.count : 0)
    }

    /// The work of all encoders after the last pixel. One evaluation of the pixels counts as 1.
    var encoding: Double { rendering.outputs.compactMap { $0.stages.last.map(SaveStage.init)?.encoding }.reduce(0, +) }

    func render(into targets: [Descriptor]) throws -> [RenderedOutput] {
        var results: Rendering.Results = [:]
        for decoding in plan.decodings { results.merge(try rendering.render(decoding, into: targets)) { $1 } }
        return targets.indices.compactMap { results[$0] }
    }

    /// A file that somebody wrote to meanwhile has given neither its old nor its new picture.
    func refuseChange() throws {
        guard try rendering.source.hasChanged() else { return }
        throw WorkerFailure(
            stage: "open", message: "the file was written to while it was read",
            advice: "when it is whole: pipectl retry")
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

extension RenderOutput {
    /// The output, with the format of the original in place of `format=same`.
    fileprivate func saved(like original: SourceFormat) -> RenderOutput {
        guard let save = stages.last, save.arguments["format"]?.text == "same" else { return self }
        var result = self
        result.stages[stages.count - 1].arguments["format"] = .text(original.written)
        return result
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
