import PipelineModel
import SystemCalls
import WorkerProtocol

/// Renders pictures that stay in planes for as long as their stages allow.
extension Rendering {
    /// Nil when the file's planes can't be decoded.
    func renderPlanes(_ decoding: DecodePlan.Decoding, into targets: [Descriptor]) throws -> Results? {
        try cancellation.check()
        guard let planes = try source.planes(decoding.path, of: file) else { return nil }
        if decoding.isShared { cancellation.progress.passed(1) }
        return try results(of: decoding, from: planes) { output, decoded, left in
            try cancellation.check()
            return try render(output, from: &decoded, before: left, into: targets[output])
        }
    }

    private func render(
        _ output: Int, from decoded: inout DecodedPixels<Planes>, before others: ArraySlice<Int>,
        into target: Descriptor
    ) throws -> RenderedOutput {
        var stages = outputs[output].stages[...]
        if stages.first?.name == ResizeStage.name { stages = stages.dropFirst() }
        let size = self.target(of: output) ?? .whole(file.width, file.height)
        let isStoredGrey = decoded.whole.colours.isEmpty
        var arrangement = arranged(Arrangement(size, Turn(file.orientation)), by: &stages, isGrey: isStoredGrey)
        let isGrey = isStoredGrey || needsLuma(stages.first)
        let frame = arrangement.frame
        let table = isGrey ? try table(of: &stages) : nil
        // Joins the stages that move pixels after the table, too, unless a stage before the table adds a frame. In that
        // case, the table must be applied to the frame first.
        if table != nil, frame == nil { arrangement = arranged(arrangement, by: &stages, isGrey: true) }
        var planes = try sized(
            size, arrangement, isGrey: isGrey, chroma: chroma(for: stages.first), from: &decoded, before: others)
        try cancellation.check()
        if let frame { planes = try room { planes.framed(frame) } }
        if let table { planes = try room { planes.withLuma(table, isNeeded: !others.isEmpty) } }
        if frame == nil, let frame = arrangement.frame { planes = try room { planes.framed(frame) } }
        guard stages.count == 1, let save = stages.first.map(SaveStage.init), save.storesPlanes else {
            let picture = try room { planes.inRange(.full, isNeeded: !others.isEmpty)?.picture }
            Metadata.add(from: file, to: picture)
            // The pixels are upright already.
            picture.removeField("orientation")
            if !planes.colours.isEmpty, file.profile != nil { picture.copyField(ICCProfile.field, from: file) }
            return try finish(picture, stages, for: output, into: target)
        }
        planes = try room { planes.inRange(save.range, isNeeded: !others.isEmpty) }
        let gainMap = try gainMap(for: output, save)
        let encoded = try source.reading {
            try save.apply(to: planes, of: file, with: gainMap.file, into: target, cancellation)
        }
        return try SavedFile.check(target, against: encoded, format: save.format, gainMap)
    }

    /// The arrangement, followed by the leading stages that only move pixels. Removes these stages.
    private func arranged(_ start: Arrangement, by stages: inout ArraySlice<Stage>, isGrey: Bool) -> Arrangement {
        var result = start
        while let stage = stages.first, filters.traits(stage).contains(.movesPixels),
            let filter = filters.filters[stage.name]
        {
            let (width, height) = result.size
            let following = stages.dropFirst().first
            guard let next = filter.arrangement(stage, width, height).flatMap(result.followed),
                next.isWhole(in: isGrey ? .none : chroma(for: following)),
                isPossible(next.frame, isGrey: isGrey, before: following)
            else { break }
            (result, stages) = (next, stages.dropFirst())
            if filters.traits(stage).contains(.wholePicture) { cancellation.progress.passed(1) }
        }
        return result
    }

    /// Grey planes can't have a coloured frame, unless the next stage drops the frame's colour. A frame beyond
    /// `maxPixels` is not possible either: the filter then runs as usual, and the worker refuses its result.
    private func isPossible(_ frame: Arrangement.Frame?, isGrey: Bool, before next: Stage?) -> Bool {
        guard let frame else { return true }
        return Int64(frame.width) * Int64(frame.height) <= maxPixels && (!isGrey || frame.isGrey || needsLuma(next))
    }

    private func needsLuma(_ stage: Stage?) -> Bool {
        stage.map { filters.traits($0).contains(.lumaOnly) } ?? false
    }

    /// The chroma subsampling that a stage needs.
    private func chroma(for stage: Stage?) -> Planes.Subsampling { stage.flatMap(SaveStage.storedPlanes) ?? .none }

    /// The planes for an output, resized and turned, but without a frame. Keeps the resized planes if other outputs can
    /// be made from them.
    private func sized(
        _ target: ResizeStage.Target, _ arrangement: Arrangement, isGrey: Bool, chroma: Planes.Subsampling,
        from decoded: inout DecodedPixels<Planes>, before others: ArraySlice<Int>
    ) throws -> Planes {
        let start = decoded.smallest(for: target)
        let planes = try room {
            (isGrey ? start.withoutColours : start).resized(target, arrangement, chroma, resizers)
        }
        let hasAll =
            planes.colours.count == start.colours.count && planes.beginsEvenly(before: arrangement.turn)
            && planes.luma.width == target.width && planes.luma.height == target.height
        if hasAll, serves(target, others) { decoded.keep(planes) }
        let upright = try room { planes.upright(arrangement.turn) }
        if Picture.needsMemory(toTurn: file.orientation) { cancellation.progress.passed(1) }
        return upright
    }

    /// The luma table that replaces the leading stages, if their result depends on luma alone. Removes these stages.
    private func table(of stages: inout ArraySlice<Stage>) throws -> [UInt8]? {
        guard stages.count > 1, let table = filters.table(stages, isGrey: true, hasAlpha: false) else { return nil }
        let values =
            try table.knownGreyValues
            ?? applying(table.stages.map(\.stage.name)) { try table.greyValues(cancellation) }
        if values != nil { stages = stages.dropFirst(table.stages.count) }
        return values
    }

    private func room<Result>(_ body: () throws -> Result?) throws -> Result {
        guard let result = try body() else {
            throw WorkerFailure(stage: ResizeStage.name, withoutMemory: "there was no memory for the result")
        }
        return result
    }
}

extension SourceFile {
    /// Nil when the file is truncated or unusual in any other way.
    fileprivate func planes(_ path: DecoderPath, of picture: Picture) throws -> Planes? {
        if format == .png { return pngPixels(of: picture)?.luma }
        let (bytes, withColours) = (try bytes(), path.colours == .planes)
        return format == .webp
            ? WebPPlanes.decode(bytes, shrink: path.shrink, withColours: withColours)
            : JPEGPlanes.decode(bytes, shrink: path.shrink, withColours: withColours, by: decoders.jpeg)
    }
}
