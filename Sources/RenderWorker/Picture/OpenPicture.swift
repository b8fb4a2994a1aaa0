import CVips
import PipelineModel
import SystemCalls
import WorkerProtocol

/// A picture whose header has been read, and the plan for each of its outputs.
struct OpenPicture {
    private(set) var header: PictureHeader
    private let plan: DecodePlan
    private let rendering: Rendering

    /// Reads the header, and plans the outputs according to it, before any pixel is read.
    init(
        _ request: OpenRequest, _ outputs: [RenderOutput], _ descriptor: Descriptor, original: Descriptor? = nil,
        filters: FilterLibrary, resizers: Resizers, decoders: Decoders, cancellation: Cancellation
    ) throws {
        func open(_ file: Descriptor, accepting: Bool) throws -> SourceFile {
            try SourceFile(
                file, name: request.name, accepting: accepting, raw: request.raw, maxTexts: request.maxTexts,
                decoders: decoders)
        }
        let original = try original.map { try open($0, accepting: true) }
        var source = try open(descriptor, accepting: request.onTruncated == .accept)
        let outputs = outputs.map { [source] in $0.saved(like: (original ?? source).format) }
        // A chain that comes from an older ledger, or from another node, may be longer than today's limit.
        if let long = outputs.map(\.stages).first(where: { $0.count > Settings.mostStages + 1 }) {
            throw WorkerFailure(
                stage: "open",
                message: "the chain has \(long.count) stages; a worker takes \(Settings.mostStages), and save",
                advice: "make two chains of it")
        }
        let changesSize = { (stage: Stage) in filters.traits(stage).contains(.changesSize) }
        try source.camera?.check(outputs.map(\.stages), changesSize: changesSize)
        source.camera?.is16Bit = outputs.contains { $0.stages.last.map(SaveStage.init)?.stores16Bits ?? false }
        let file = try source.reading { [source] in try source.picture() }
        let keepsFrames = outputs.contains(where: \.keepsFrames)
        let animation = try keepsFrames ? Animation(source, file, original: original) : nil
        let frames = animation?.frames ?? 1
        try Self.check(
            file.width, animation?.height ?? file.height, frames: frames, atLeast: source.camera?.pixels ?? 0,
            maxPixels: request.maxPixels)
        // After a barrier, the file has all frames in one picture.
        let picture = try original == nil ? file : animation.map { try $0.header(of: file) } ?? file
        for stages in outputs.map(\.stages) {
            // After a filter that changes the size, later sizes become known only during the render. The render checks
            // these sizes.
            let known = stages.prefix { !changesSize($0) }
            for end in known.indices where known[end].name == ResizeStage.name {
                try ResultSize(of: picture, Array(known[...end]))
                    .check(maxPixels: request.maxPixels, frames: stages.keepFrames ? frames : 1)
            }
            guard known.count == stages.count else { continue }
            try ResultSize(of: picture, stages).check(stages.last.map { SaveStage($0).format } ?? "")
        }
        let profile = picture.blob(ICCProfile.field).flatMap(ICCProfile.init)
        let (luma, planes, hasOwnDecoder) = try source.planes(picture, isHandedOver: original != nil)
        let facts = SourceFacts(
            format: source.format, length: source.size, width: picture.width, height: picture.height,
            isTurned: picture.orientation >= 5, isGrey: picture.bands == 1, frames: frames, luma: luma,
            planes: planes, hasOwnDecoder: hasOwnDecoder, shrinks: source.shrinks, camera: source.camera?.words)
        let isProgressive = (picture.integer("interlaced") ?? picture.integer("jpeg-multiscan") ?? 0) != 0
        let estimate = MemoryEstimate(
            picture: picture, source: source, planes: facts.planes, isProgressive: isProgressive,
            traits: filters.traits, movesPixels: filters.movesPixels)
        let ordered = outputs.map { facts.ordered($0, filters.traits) }
        plan = DecodePlan(
            ordered.map(\.stages), of: facts, filters.traits, movesPixels: filters.movesPixels,
            bytesPerPixel: estimate.bytesPerPixel(of:))
        // After a barrier, only the original has the gain map and the metadata.
        let described = try original.map { original in try original.reading { try original.picture() } } ?? picture
        let gainMaps = GainMaps(
            of: original ?? source, described, ordered.map { $0.earlier + $0.stages }, filters, resizers)
        for (plan, output) in zip(gainMaps.plans, ordered) { try plan.check(output.stages) }
        header = PictureHeader(
            format: source.camera?.kind ?? source.format.rawValue, width: picture.width, height: picture.height,
            bands: picture.bands,
            bitsPerSample: picture.bytesPerSample * 8, pages: source.pictures(among: file.integer("n-pages") ?? 1),
            orientation: picture.orientation, profile: profile?.name, progressive: isProgressive,
            decoderPaths: plan.words, framesTaken: outputs.map { $0.stages.keepFrames ? frames : 1 },
            // Decodings run one after the other, so only the largest estimate counts.
            memory: (plan.decodings.map { estimate.bytes($0, ordered.map(\.stages)) }.max() ?? 0)
                + Int64(gainMaps.memory),
            gainMap: gainMaps.finding.words, gainMapPlans: gainMaps.plans.map { $0.words ?? "" })
        if outputs.contains(where: \.wantsDate) { header.taken = described.exif?.date }
        if outputs.contains(where: \.wantsFacts) {
            header.facts = described.facts(
                format: source.camera == nil ? source.format.rawValue : SourceFormat.raw.rawValue, pages: header.pages)
            header.facts?.isHDR = header.gainMap != nil
        }
        rendering = Rendering(
            source: source, file: picture, original: original, animation: animation, outputs: ordered,
            filters: filters, resizers: resizers, cancellation: cancellation, maxPixels: request.maxPixels,
            gainMaps: gainMaps)
    }

    /// Refuses a picture with more pixels than `maxPixels`. Unless an animation is kept, only the first of several
    /// pages counts, because only that page is decoded. `atLeast` is the number of pixels in a camera's file, which may
    /// exceed the pixels of the picture that is read.
    private static func check(
        _ width: Int, _ height: Int, frames: Int, atLeast: Int64, maxPixels: Int64
    ) throws(WorkerFailure) {
        let pixels = max(Int64(width) * Int64(height) * Int64(frames), atLeast)
        guard pixels > maxPixels else { return }
        let words = (frames > 1 ? "\(frames) frames of " : "") + "\(width) × \(height)"
        throw WorkerFailure(
            stage: "open", message: "\(words) are \(pixels) pixels, more than MaxPixels=\(maxPixels)",
            advice: (frames > 1 ? "save the first frame alone (pages=first), or " : "")
                + "if you trust this picture, raise MaxPixels in [Daemon]; then pipectl retry")
    }

    var pixelsToRead: Int64 { header.pixelsToRead }

    /// How often all pixels are evaluated. Each output needs one evaluation. Each of the following adds an evaluation,
    /// into memory: a rotation, a filter that needs the whole picture, and a first resize that crops rows. Each
    /// decoding that several outputs share also counts as an evaluation. So does each development of a camera's
    /// samples. Brief evaluations are not counted.
    var evaluations: Int {
        // All frames of an animation together count as one evaluation.
        let stills = zip(rendering.outputs, header.framesTaken).filter { $1 == 1 }.map(\.0.stages)
        let wholePictures = stills.joined().count { rendering.filters.traits($0).contains(.wholePicture) }
        return rendering.outputs.count - stills.count
            + stills.count * (Picture.needsMemory(toTurn: header.orientation) ? 2 : 1)
            + wholePictures + bufferedForCrops + plan.decodings.count(where: \.isShared)
            + (rendering.source.format == .raw ? plan.decodings.count : 0)
    }

    /// Number of outputs whose first resize crops rows of a picture that is not yet in memory.
    private var bufferedForCrops: Int {
        guard rendering.source.isReadToItsEnd else { return 0 }
        let streaming = plan.decodings.filter { !$0.isShared && !$0.path.isOfPlanes && $0.path.frames == 1 }
        return streaming.flatMap(\.outputs).count { rendering.target(of: $0)?.cutsRows == true }
    }

    /// The work of all encoders after the last pixel, in units of one evaluation of all pixels.
    var encoding: Double {
        zip(rendering.outputs, header.framesTaken).map { output, frames in
            output.stages.last.map(SaveStage.init)?.encoding(frames: frames) ?? 0
        }.reduce(0, +)
    }

    func render(into targets: [Descriptor]) throws -> [RenderedOutput] {
        var results: Rendering.Results = [:]
        for decoding in plan.decodings { results.merge(try rendering.render(decoding, into: targets)) { $1 } }
        for (index, output) in rendering.outputs.enumerated() where output.wantsHash {
            results[index]?.hash = try FileHash.sha256(targets[index]) { try rendering.cancellation.check() }
        }
        return targets.indices.compactMap { results[$0] }
    }

    /// Throws if somebody wrote to the file during the render, because the result may then mix the old picture and the
    /// new picture.
    func refuseChange() throws {
        guard try rendering.source.hasChanged() else { return }
        throw WorkerFailure(
            stage: "open", message: "the file was written to while it was read",
            advice: "wait until it is complete; then pipectl retry")
    }
}

extension SourceFile {
    /// Returns three facts: how luma can be read; the chroma subsampling of the stored planes, or nil if the planes
    /// can't be used as sRGB; and whether the worker decodes the pixels itself.
    fileprivate func planes(
        _ picture: Picture, isHandedOver: Bool
    ) throws -> (luma: SourceFacts.Luma, shared: Planes.Subsampling?, hasOwnDecoder: Bool) {
        // The worker decodes a common PNG itself, whatever its colours are.
        let png = pngPixels(of: picture)
        if let profile = picture.profile, !profile.isSRGB {
            return (.none("its profile\(profile.name.map { ", \($0)," } ?? "") comes first"), nil, png != nil)
        }
        guard picture.hasPlainColours else {
            return (.none("its colours must be converted first"), nil, png != nil)
        }
        // A PNG stores no luma, but the worker converts each row to luma as it decodes the row. After a barrier, the
        // worker does not do this, because the metadata then comes from another file.
        if let png { return (png.hasLuma && !isHandedOver ? .stored : .made, nil, true) }
        let stored = try storedPlanes
        return (stored.luma ? .stored : .made, stored.colours, stored.hasOwnDecoder)
    }
}

extension [Stage] {
    fileprivate var keepFrames: Bool { last.map(SaveStage.init)?.keepsFrames ?? false }
}

extension RenderOutput {
    fileprivate var keepsFrames: Bool { stages.keepFrames }

    /// The output, with the format of the original in place of `format=same`.
    fileprivate func saved(like original: SourceFormat) -> RenderOutput {
        guard let save = stages.last, save.arguments["format"]?.text == "same" else { return self }
        var result = self
        result.stages[stages.count - 1].arguments["format"] = .text(original.written)
        return result
    }
}

extension SourceFacts {
    /// The output, with movable filters placed after a resize that makes the picture smaller.
    fileprivate func ordered(_ output: RenderOutput, _ traits: (Stage) -> Set<StageTrait>) -> RenderOutput {
        var result = output
        result.stages = ResizeFirst.order(output.stages, traits: traits)
        guard let target = result.stages.first.flatMap(ResizeStage.init).map(target) else { return output }
        return target.width * target.height < width * height ? result : output
    }
}
