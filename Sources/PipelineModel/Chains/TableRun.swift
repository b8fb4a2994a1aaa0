/// Finds stages that go through one table. The result of such a filter is a function of one value for each colour band,
/// and can be computed once for every value instead of for every pixel.
public enum TableRun {
    /// The number of leading stages that share a table, on a picture that is grey or not, with alpha or without.
    public static func length(
        _ stages: some Sequence<Stage>, isGrey: Bool, hasAlpha: Bool, traits: (String) -> Set<StageTrait>
    ) -> Int {
        var isGrey = isGrey
        var length = 0
        for stage in stages {
            let traits = traits(stage.name)
            // The host makes luma of colours in front of the table.
            if length == 0, traits.contains(.lumaOnly) { isGrey = true }
            // On one band any pointwise filter is a function, whatever number of bands it makes; alpha would be a
            // second value.
            let isFunctionOfGrey = traits.contains(.pointwise) && isGrey && !hasAlpha
            let isFunctionOfEachBand = traits.contains(.curve) && (isGrey || !traits.contains(.lumaOnly))
            guard isFunctionOfGrey || isFunctionOfEachBand else { break }
            length += 1
        }
        return length
    }
}

extension StageCatalog {
    /// The names of the stages as they run on a large coloured picture without alpha: "resize, noir + fade: one table".
    func steps(_ stages: [Stage]) -> [String] {
        let traits = { self[$0]?.traits ?? [] }
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
