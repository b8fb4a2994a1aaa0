/// Turns outputs into the few operations they need.
///
/// libvips streams: all stages of all outputs up to a barrier fuse into one render, which hands its picture on without
/// loss, so that a job at a barrier holds a file and nothing else. A `tee` is another result of the same render.
public enum Planner {
    /// A job without a batch waits at no barrier, and is not cut there.
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
    /// Writes the picture that goes over a barrier to `save`, every pixel as it is, of an animation every frame if it
    /// is kept. Everything else is read from the original again.
    fileprivate static func handOver(before save: Stage?) -> Stage {
        var stage = Stage(
            name: BuiltInStage.save.description.name, arguments: ["format": .text("png"), "compression": .number(0)])
        stage.arguments["pages"] = save?.arguments["pages"]
        return stage
    }
}
