/// Turns outputs into the few operations they need.
///
/// libvips streams: all stages of all outputs up to a barrier fuse into one render. What a chain has made there is handed on as a lossless
/// picture, so that a job at a barrier holds a file and nothing else. A `tee` is one more result of the same render.
public enum Planner {
    /// A job that is in no batch waits at no barrier, and is not cut there.
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
                        index: count, source: source, stages: stages + [save], isResult: isResult, name: name))
                count += 1
            }
            for stage in output.chain.stages {
                if let tee = stage.teeName {
                    if let save = output.chain.stages.last { make(save, isResult: true, name: tee) }
                } else if !stage.isBarrier {
                    stages.append(stage)
                } else if inBatch {
                    if !stages.isEmpty {
                        make(.handOver, isResult: false, name: output.name)
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
    /// Writes what is handed over a barrier: every pixel as it is. What else a picture carries is read from the original again.
    fileprivate static let handOver = Stage(
        name: BuiltInStage.save.description.name, arguments: ["format": .text("png"), "compression": .number(0)])
}
