import PipelineModel
import SystemCalls
import WorkerProtocol

/// Renders pictures that stay in planes for as long as their stages allow.
extension Rendering {
    /// Nil when the file's planes can't be decoded.
    func renderPlanes(_ decoding: DecodePlan.Decoding, into targets: [Descriptor]) throws -> Results? {
        try cancellation.check()
        guard let planes = try source.planes(decoding.path) else { return nil }
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
        var planes = try sized(output, for: stages.first, from: &decoded, before: others)
        try cancellation.check()
        if planes.colours.isEmpty, let table = try table(of: stages) {
            planes = try room { planes.withLuma(table.values, isNeeded: !others.isEmpty) }
            stages = stages.dropFirst(table.stages)
        }
        guard stages.count == 1, let save = stages.first.map(SaveStage.init), save.storesPlanes else {
            let picture = try room { planes.inRange(.full, isNeeded: !others.isEmpty)?.picture }
            let described = try Metadata.copy(from: file, to: picture).asUpright()
            if !planes.colours.isEmpty, file.profile != nil { described.copyField(ICCProfile.field, from: file) }
            return try finish(described, stages, into: target)
        }
        planes = try room { planes.inRange(save.range, isNeeded: !others.isEmpty) }
        let encoded = try source.reading { try save.apply(to: planes, of: file, into: target, cancellation) }
        return try SavedFile.check(target, against: encoded, format: save.format)
    }

    /// The planes for an output, resized and upright, with the chroma that the next stage needs. Keeps the resized
    /// planes if other outputs can be made from them.
    private func sized(
        _ output: Int, for next: Stage?, from decoded: inout DecodedPixels<Planes>, before others: ArraySlice<Int>
    ) throws -> Planes {
        let turn = Turn(file.orientation)
        let target = target(of: output) ?? .whole(file.width, file.height)
        let start = decoded.smallest(for: target)
        let isGrey = next.map { filters.traits($0.name).contains(.lumaOnly) } ?? false
        let shared = next.flatMap(SaveStage.storedPlanes) ?? .none
        let planes = try room {
            (isGrey ? start.withoutColours : start).resized(target, shared, before: turn, resizers)
        }
        let hasAll = planes.colours.count == start.colours.count && planes.beginsEvenly(before: turn)
        if hasAll, serves(target, others) { decoded.keep(planes) }
        let upright = try room { planes.upright(turn) }
        if Picture.needsMemory(toTurn: file.orientation) { cancellation.progress.passed(1) }
        return upright
    }

    /// The luma table that replaces the leading stages, if their result depends on luma alone.
    private func table(of stages: ArraySlice<Stage>) throws -> (values: [UInt8], stages: Int)? {
        guard stages.count > 1, let table = filters.table(stages, isGrey: true, hasAlpha: false) else { return nil }
        let values =
            try table.knownGreyValues
            ?? applying(table.stages.map(\.stage.name)) { try table.greyValues(cancellation) }
        return values.map { ($0, table.stages.count) }
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
    fileprivate func planes(_ path: DecoderPath) throws -> Planes? {
        let (bytes, withColours) = (try bytes(), path.colours == .planes)
        return format == .webp
            ? WebPPlanes.decode(bytes, shrink: path.shrink, withColours: withColours)
            : JPEGPlanes.decode(bytes, shrink: path.shrink, withColours: withColours, by: jpegDecoder)
    }
}

extension Picture {
    /// Drops the orientation, because the pixels are upright already.
    fileprivate func asUpright() -> Picture {
        removeField("orientation")
        return self
    }
}
