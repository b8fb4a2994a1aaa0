/// Moves filters behind a later resize if they compute each pixel only from the same pixel of their input. The filters
/// then process fewer pixels, and the decoder can do most of the resizing by decoding at a smaller size.
public enum ResizeFirst {
    /// Returns the execution order of the stages, for a picture that the resize makes smaller. A resize with an
    /// explicit kernel keeps its place, because every pixel has to pass through that kernel.
    public static func order(_ stages: [Stage], traits: (Stage) -> Set<StageTrait>) -> [Stage] {
        let name = BuiltInStage.resize.description.name
        guard let place = stages.firstIndex(where: { $0.name == name }),
            stages[place].arguments["kernel"]?.text ?? "auto" == "auto",
            stages[place].arguments["scale"]?.number ?? 0 < 1,
            stages[..<place].allSatisfy({ !traits($0).isDisjoint(with: [.pointwise, .curve]) })
        else { return stages }
        return [stages[place]] + stages[..<place] + stages[(place + 1)...]
    }
}
