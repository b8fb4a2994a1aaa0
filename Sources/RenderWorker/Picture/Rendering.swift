import CVips
import PipelineModel
import SystemCalls
import WorkerProtocol

/// Renders a picture's outputs according to the plan.
struct Rendering {
    let source: SourceFile
    /// The picture's header. Its pixels are not read.
    let file: Picture
    /// After a barrier, the file that a user added, which provides everything except the pixels. Otherwise nil.
    let original: SourceFile?
    /// The animation whose frames an output keeps; nil for a still picture, and if no output keeps the frames.
    let animation: Animation?
    /// The outputs, with their stages in the order in which they run.
    let outputs: [RenderOutput]
    let filters: FilterLibrary
    let resizers: Resizers
    let cancellation: Cancellation
    let maxPixels: Int64
    let gainMaps: GainMaps

    typealias Results = [Int: RenderedOutput]

    func render(_ decoding: DecodePlan.Decoding, into targets: [Descriptor]) throws -> Results {
        if decoding.path.frames > 1, let animation, let output = decoding.outputs.first {
            return [output: try renderFrames(of: animation, output, into: targets[output])]
        }
        guard decoding.path.isOfPlanes else { return try renderPicture(decoding, into: targets) }
        if let results = try renderPlanes(decoding, into: targets) { return results }
        // The planes can't be decoded. libvips decodes the file once for each output, because the whole picture might
        // not fit into memory.
        return try decoding.outputs.reduce(into: [:]) { results, index in
            let alone = DecodePlan.Decoding(path: decoding.path, outputs: [index])
            results.merge(try renderPicture(alone, into: targets)) { $1 }
        }
    }

    /// Renders all outputs of a decoding, the largest first. `render` also receives the outputs that are still to be
    /// rendered.
    func results<Pixels>(
        of decoding: DecodePlan.Decoding, from decoded: Pixels,
        _ render: (_ output: Int, _ decoded: inout DecodedPixels<Pixels>, _ left: ArraySlice<Int>) throws ->
            RenderedOutput
    ) throws -> Results {
        var decoded = DecodedPixels(decoded)
        var left = decoding.outputs.sorted { pixels(of: $0) > pixels(of: $1) }[...]
        var results: Results = [:]
        while let output = left.popFirst() { results[output] = try render(output, &decoded, left) }
        return results
    }

    private func renderPicture(_ decoding: DecodePlan.Decoding, into targets: [Descriptor]) throws -> Results {
        let results = try results(of: decoding, from: decode(decoding)) { output, decoded, left in
            var stages = outputs[output].stages[...]
            var picture = decoded.whole
            if let first = stages.first, let resize = ResizeStage(first) {
                stages = stages.dropFirst()
                picture = try resized(resize, from: &decoded, isRead: decoding.isShared, before: left)
            }
            let prepared = try prepared(picture, for: outputs[output].stages, like: described())
            return try finish(prepared, stages, for: output, into: targets[output])
        }
        try source.refuseMissingEnd()
        return results
    }

    /// The header of the original, which has the metadata. Nil if the picture has not passed a barrier.
    func described() throws -> Picture? {
        try original.map { original in try original.reading { try original.picture() } }
    }

    /// Prepares a picture for the filters, after the first resize if there is one. The result is upright, in the
    /// colours that the output needs, and has the metadata of the original.
    private func prepared(_ picture: Picture, for stages: [Stage], like original: Picture?) throws -> Picture {
        let prepared = try source.reading {
            let upright = try picture.upright(cancellation)
            return try keepsProfile(stages) ? upright.inOwnColours() : upright.inStandardColours()
        }
        guard let original else { return prepared }
        let described = try Metadata.copy(from: original, to: prepared)
        // The picture is upright already.
        described.removeField("orientation")
        return described
    }

    /// Makes a frame of the result from a frame of the animation.
    func made(of frame: Picture, for output: Int, frames: Int, like original: Picture?) throws -> Picture {
        let all = outputs[output].stages
        var (frame, stages) = (frame, all[...])
        if let resize = stages.first.flatMap(ResizeStage.init) {
            stages = stages.dropFirst()
            frame = try within(ResizeStage.name) { try resize.apply(target(resize), to: frame) }
        }
        return try made(of: prepared(frame, for: all, like: original), by: stages, frames: frames)
    }

    /// Whether the result keeps the profile. A luma-only result doesn't, because the profile is for colours.
    private func keepsProfile(_ stages: [Stage]) -> Bool {
        stages.last.map(SaveStage.init)?.keepsProfile == true
            && !stages.contains { filters.traits($0).contains(.lumaOnly) }
    }

    /// Runs the remaining stages on an upright picture in standard colours. The last stage must be `save`.
    func finish(
        _ picture: Picture, _ stages: ArraySlice<Stage>, for output: Int, into target: Descriptor
    ) throws -> RenderedOutput {
        guard let last = stages.last, last.name == SaveStage.name else { throw Self.unsaved }
        let (picture, save) = (try made(of: picture, by: stages), SaveStage(last))
        let gainMap = try gainMap(for: output, save)
        let encoded = try source.reading {
            let encoded = try reading(through: stages.dropLast()) {
                try save.apply(to: picture, with: gainMap.file, into: target, cancellation)
            }
            try refuseDamage()
            return encoded
        }
        return try SavedFile.check(target, against: encoded, format: save.format, gainMap)
    }

    /// The gain map for an output. Throws if the output requires the gain map but the gain map is lost.
    func gainMap(for output: Int, _ save: SaveStage) throws -> GainMaps.Outcome {
        try cancellation.check()
        let outcome = gainMaps.make(output, most: save.maxBytes)
        if case .lost(let reason) = outcome, save.hdr == .require { throw WorkerFailure(losingGainMap: reason) }
        return outcome
    }

    static let unsaved = WorkerFailure(stage: SaveStage.name, message: "the chain doesn't end in save")

    /// Runs a picture through all stages except the last, which is `save`. The limit `maxPixels` applies to all frames
    /// together.
    private func made(of picture: Picture, by all: ArraySlice<Stage>, frames: Int = 1) throws -> Picture {
        var (picture, stages) = (picture, all.dropLast())
        while let stage = stages.popFirst() {
            if let resize = ResizeStage(stage) {
                let target = resize.target(picture.width, picture.height)
                try ResultSize(width: target.cropWidth, height: target.cropHeight)
                    .check(maxPixels: maxPixels, frames: frames)
                let before = all[..<(all.endIndex - stages.count - 2)]
                picture = try within(stage.name) {
                    try resize.apply(target, to: picture) { frames == 1 ? try readCompletely($0, behind: before) : $0 }
                }
            } else if let table = filters.table([stage] + stages, of: picture) {
                stages = stages.dropFirst(table.stages.count - 1)
                picture = try applying(table.stages.map(\.stage.name)) { try table.apply(to: picture, cancellation) }
            } else if let filter = filters.filters[stage.name] {
                if filters.traits(stage).contains(.wholePicture) {
                    let before = all[..<(all.endIndex - stages.count - 2)]
                    picture = try inMemory(picture, behind: before)
                }
                picture = try applying([stage.name]) {
                    try filter.apply(stage, to: picture, before: all.last, maxPixels: maxPixels / Int64(frames))
                }
            } else {
                throw WorkerFailure(
                    stage: stage.name, message: "this filter is not loaded any more", advice: "put its plugin back",
                    class: .configuration)
            }
        }
        return picture
    }

    /// Reads a picture completely before its last rows are cropped, so that damage in these rows is noticed.
    private func readCompletely(_ picture: Picture, behind stages: ArraySlice<Stage>) throws -> Picture {
        guard source.isReadToItsEnd else { return picture }
        let pixels = try inMemory(picture, behind: stages)
        try source.reading(refuseDamage)
        return pixels
    }

    private func inMemory(_ picture: Picture, behind stages: ArraySlice<Stage>) throws -> Picture {
        try source.reading { try reading(through: stages) { try picture.inMemory(cancellation) } }
    }

    /// Runs `body`, which evaluates pixels through the stages. If `body` reads rows out of order, the error names the
    /// filters that may be the cause.
    private func reading<Result>(through stages: ArraySlice<Stage>, _ body: () throws -> Result) throws -> Result {
        do { return try body() } catch let error as VipsError where error.isOfOrder {
            // The input of a filter that asks for the whole picture is in memory. So neither that filter nor an earlier
            // filter can be at fault, and the error names only later filters.
            let whole = stages.lastIndex { filters.traits($0).contains(.wholePicture) }
            let names = stages[(whole.map { $0 + 1 } ?? stages.startIndex)...].filter { stage in
                filters.filters[stage.name] != nil && !filters.traits(stage).contains(.curve)
            }.map(\.name)
            guard !names.isEmpty else { throw error }
            throw WorkerFailure(readingOutOfOrder: Set(names).sorted())
        }
    }

    /// The target in the stored orientation, because turning the picture after the resize is cheaper.
    private func target(_ resize: ResizeStage) -> ResizeStage.Target {
        resize.target(stored: file.width, file.height, isTurned: file.orientation >= 5)
    }

    func target(of output: Int) -> ResizeStage.Target? {
        outputs[output].stages.first.flatMap(ResizeStage.init).map(target)
    }

    private func pixels(of output: Int) -> Int {
        target(of: output).map(\.pixels) ?? file.width * file.height
    }

    /// Whether a picture made for the target is worth keeping, because other outputs can be made from it.
    func serves(_ target: ResizeStage.Target, _ others: ArraySlice<Int>) -> Bool {
        !target.isCropped
            && others.contains { self.target(of: $0)?.isServed(by: target.width, target.height) ?? false }
    }

    /// Resizes the decoded pixels, or the picture of an earlier output, and keeps the result for later outputs that can
    /// use it. `isRead` means that the decoded pixels are in memory.
    private func resized(
        _ resize: ResizeStage, from decoded: inout DecodedPixels<Picture>, isRead: Bool,
        before others: ArraySlice<Int>
    ) throws -> Picture {
        let target = target(resize)
        let start = resize.mayShrinkWhileDecoding ? decoded.smallest(for: target) : decoded.whole
        let picture = try within(ResizeStage.name) {
            try resize.apply(target, to: start) { isRead ? $0 : try readCompletely($0, behind: []) }
        }
        guard serves(target, others) else { return picture }
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
        // Drop the profile: a grey profile was ignored while the picture had colours, but would now be applied to the
        // luma.
        case .luma: return try shrunk(path.shrink).withoutProfile().luma()
        // The planes could not be decoded, so the file may be damaged: libvips decides whether it is still usable.
        case .planes, .storedLuma: return try source.picture()
        }
    }

    private func shrunk(_ shrink: Int) throws -> Picture {
        if source.format == .raw, let camera = source.camera {
            return try camera.developed(shrink: shrink, cancellation)
        }
        guard source.format == .tiff, shrink > 1 else { return try source.picture(shrink: shrink) }
        // Read the smaller copy once before it is used. If it is damaged, the picture itself may still be intact.
        guard try canRead(shrink) else { return try source.picture() }
        // The metadata of a smaller copy may differ from the picture's, so use the metadata of the picture itself.
        let whole = try Metadata.copy(from: file, to: source.picture(shrink: shrink))
        whole.copyField(ICCProfile.field, from: file)
        return whole
    }

    private func canRead(_ shrink: Int) throws -> Bool {
        do {
            try source.picture(shrink: shrink).readToEnd(cancellation)
            return true
        } catch is VipsError {
            return false
        }
    }

    /// Throws if the decoder warned of damage. A JPEG decoder only warns: it continues past damage, leaves grey or
    /// shifted blocks, and reports success. Extra bytes between markers do no harm: some cameras write them.
    private func refuseDamage() throws {
        guard !source.acceptsDamage else { return }
        let grumble = VipsError.take()
        let isDamage = grumble.lines.contains { $0.contains("Corrupt JPEG data") && !$0.contains("extraneous bytes") }
        if isDamage { throw grumble }
    }

    func applying<Result>(_ filters: [String], _ body: () throws -> Result) throws -> Result {
        try within(filters.joined(separator: " + ")) { try FilterHost.applying(filters, body) }
    }

    /// Turns an error of libvips into a failure of this stage.
    private func within<Result>(_ stage: String, _ body: () throws -> Result) throws -> Result {
        do { return try body() } catch let error as VipsError {
            throw WorkerFailure(stage: stage, message: error.reason)
        }
    }
}
