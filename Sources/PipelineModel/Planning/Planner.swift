/// Turns outputs into as few operations as possible.
///
/// libvips streams: all stages of all outputs up to a barrier fuse into one render. At a barrier the render writes a
/// lossless intermediate file, so that a waiting job holds a file and nothing else. A `tee` is another result of the
/// same render.
public enum Planner {
    /// Without a batch, a job does not wait at barriers, so the plan has no cut there.
    public static func plan(outputs: [RecipeOutput], inBatch: Bool) -> Plan {
        var segments: [[PlannedPicture]] = [[]]
        var count = 0
        for output in outputs {
            var segment = 0
            var source: Int?
            var stages: [Stage] = []
            func make(_ save: Stage, isResult: Bool, name: String?) {
                segments[segment].append(
                    PlannedPicture(
                        index: count, source: source, stages: stages + [save], isResult: isResult, name: name,
                        naming: isResult ? output.naming : nil))
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
                        (source, stages) = (count - 1, [])
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
    /// The `save` stage for the intermediate picture at a barrier: lossless, and with all frames if the result keeps
    /// them. All other data is read from the original again.
    fileprivate static func handOver(before save: Stage?) -> Stage {
        var stage = Stage(
            name: BuiltInStage.save.description.name, arguments: ["format": .text("png"), "compression": .number(0)])
        stage.arguments["pages"] = save?.arguments["pages"]
        return stage
    }
}
