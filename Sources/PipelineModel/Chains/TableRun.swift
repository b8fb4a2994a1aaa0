/// Which stages go through one table: filters whose result, for each colour band, is a function of one value, which can be had for every
/// value once instead of for every pixel.
public enum TableRun {
    /// How many of the stages at the beginning do, on a picture that is grey or not, with alpha or without.
    public static func length(
        _ stages: some Sequence<Stage>, isGrey: Bool, hasAlpha: Bool, traits: (String) -> Set<StageTrait>
    ) -> Int {
        var isGrey = isGrey
        var length = 0
        for stage in stages {
            let traits = traits(stage.name)
            // In front of the table the host makes luma of colours.
            if length == 0, traits.contains(.lumaOnly) { isGrey = true }
            // Of one band any pointwise filter is a function, into however many; alpha would be a second value.
            let isFunctionOfGrey = traits.contains(.pointwise) && isGrey && !hasAlpha
            let isFunctionOfEachBand = traits.contains(.curve) && (isGrey || !traits.contains(.lumaOnly))
            guard isFunctionOfGrey || isFunctionOfEachBand else { break }
            length += 1
        }
        return length
    }
}

extension StageCatalog {
    /// The names of the stages, as they are carried out on a large picture of colours without alpha: "resize, noir + fade: one table".
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
