/// Finds consecutive filters that can share one lookup table. Each output value of such a filter depends on one input
/// value alone, so the worker computes the table once for all possible values, instead of running the filters on each
/// pixel.
public enum TableRun {
    /// The number of stages at the start of `stages` that can share one table, for a grey or colour picture, with or
    /// without alpha.
    public static func length(
        _ stages: some Sequence<Stage>, isGrey: Bool, hasAlpha: Bool, traits: (Stage) -> Set<StageTrait>
    ) -> Int {
        var isGrey = isGrey
        var length = 0
        for stage in stages {
            let traits = traits(stage)
            // The worker converts colours to luma before it applies the table.
            if length == 0, traits.contains(.lumaOnly) { isGrey = true }
            // With a single input band, the output of any pointwise filter depends on one value, even if the output has
            // several bands. With alpha, the output would depend on two values.
            let isFunctionOfGrey = traits.contains(.pointwise) && isGrey && !hasAlpha
            let isFunctionOfEachBand = traits.contains(.curve) && (isGrey || !traits.contains(.lumaOnly))
            guard isFunctionOfGrey || isFunctionOfEachBand else { break }
            length += 1
        }
        return length
    }
}

extension StageCatalog {
    /// The execution steps for a large colour picture without alpha, in words: "resize, noir + fade: one table".
    func steps(_ stages: [Stage]) -> [String] {
        let traits = { (stage: Stage) in self[stage.name]?.traits(of: stage) ?? [] }
        var rest = ResizeFirst.order(stages, traits: traits)[...]
        var steps: [String] = []
        while let first = rest.first {
            let length = TableRun.length(rest, isGrey: false, hasAlpha: false, traits: traits)
            guard length > 1 else {
                steps.append(first.name)
                rest = rest.dropFirst()
                continue
            }
            steps.append(rest.prefix(length).map(\.name).joined(separator: " + ") + ": one table")
            rest = rest.dropFirst(length)
        }
        return steps
    }
}
