/// Moves filters behind the resize that follows them when their result for a pixel depends on that pixel alone. On
/// fewer pixels they cost less, and a decoder that shrinks may do most of the resizing.
public enum ResizeFirst {
    /// The stages in the order in which they run on a picture that the resize makes smaller. A resize that names its
    /// kernel, so that every pixel passes through it, stays where it is.
    public static func order(_ stages: [Stage], traits: (String) -> Set<StageTrait>) -> [Stage] {
        let name = BuiltInStage.resize.description.name
        guard let place = stages.firstIndex(where: { $0.name == name }),
            stages[place].arguments["kernel"]?.text ?? "auto" == "auto",
            stages[place].arguments["scale"]?.number ?? 0 < 1,
            stages[..<place].allSatisfy({ !traits($0.name).isDisjoint(with: [.pointwise, .curve]) })
        else { return stages }
        return [stages[place]] + stages[..<place] + stages[(place + 1)...]
    }
}
