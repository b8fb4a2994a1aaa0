import PipelineModel

/// How the pixels of an output are read: the cheapest way that its stages allow.
enum DecoderPath: CustomStringConvertible, Equatable {
    /// A JPEG's luma alone, at 1/n of its size.
    case grey(Int)
    /// By a decoder that shrinks while it reads, to 1/n.
    case shrunk(Int)
    case whole

    var description: String {
        switch self {
        case .grey(let shrink): "grey at 1/\(shrink)"
        case .shrunk(let shrink): "shrunk 1/\(shrink)"
        case .whole: "whole"
        }
    }

    /// What a source offers.
    struct Facts {
        var format: SourceFormat
        /// As it is stored, before it is turned upright.
        var width: Int
        var height: Int
        var isTurned: Bool
        /// A JPEG whose first component is the luma of sRGB.
        var hasLuma: Bool
    }

    static func choose(_ facts: Facts, _ stages: [Stage], _ traits: (String) -> Set<StageTrait>) -> DecoderPath {
        guard facts.format == .jpeg || facts.format == .webp, let first = stages.first else { return .whole }
        if first.name == ResizeStage.name {
            guard let resize = ResizeStage(first), resize.mayShrinkWhileDecoding else { return .whole }
            let shrink = resize.shrink(facts)
            let next = stages.dropFirst().first.map { traits($0.name) } ?? []
            if facts.hasLuma, next.contains(.lumaOnly) { return .grey(shrink) }
            return shrink > 1 ? .shrunk(shrink) : .whole
        }
        let traits = traits(first.name)
        return facts.hasLuma && traits.contains(.lumaOnly) && traits.contains(.pointwise) ? .grey(1) : .whole
    }
}
