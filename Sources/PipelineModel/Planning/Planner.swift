/// Turns a recipe's outputs into as few operations as possible.
///
/// libvips streams: one render runs all stages of all outputs up to a barrier. At a barrier the render writes a
/// lossless intermediate file, so that a waiting job occupies a file but no memory. A `tee` makes another result in the
/// same render.
public enum Planner {
    /// A job outside any batch does not wait at barriers, so barriers don't split its plan into segments.
    public static func plan(outputs: [RecipeOutput], inBatch: Bool) -> Plan {
        var segments: [[PlannedPicture]] = [[]]
        var count = 0
        for output in outputs {
            var segment = 0
            var source: Int?
            var (earlier, stages): ([Stage], [Stage]) = ([], [])
            func make(_ save: Stage, isResult: Bool, name: String?) {
                segments[segment].append(
                    PlannedPicture(
                        index: count, source: source, earlier: earlier, stages: stages + [save], isResult: isResult,
                        name: name,
                        naming: isResult ? output.naming : nil, condition: output.condition))
                count += 1
            }
            for stage in output.chain.stages {
                if let tee = stage.teeName {
                    if let save = output.chain.stages.last { make(save, isResult: true, name: tee) }
                } else if !stage.isBarrier {
                    stages.append(stage)
                } else if inBatch {
                    if !stages.isEmpty {
                        make(.handOver(before: output.chain.stages.last), isResult: false, name: output.name)
                        (source, earlier, stages) = (count - 1, earlier + stages, [])
                    }
                    segment += 1
                    if segments.count == segment { segments.append([]) }
                }
            }
            let save = stages.removeLast()
            make(save, isResult: true, name: output.name)
        }
        return Plan(segments: segments)
    }
}

extension Stage {
    /// The `save` stage for the intermediate picture at a barrier. It is lossless, and keeps all frames if the result
    /// does. Everything else, such as metadata, is read from the original again after the barrier.
    fileprivate static func handOver(before save: Stage?) -> Stage {
        var stage = Stage(
            name: BuiltInStage.save.description.name, arguments: ["format": .text("png"), "compression": .number(0)])
        stage.arguments["pages"] = save?.arguments["pages"]
        return stage
    }
}
