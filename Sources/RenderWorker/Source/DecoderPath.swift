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

    var shrink: Int {
        switch self {
        case .grey(let shrink), .shrunk(let shrink): shrink
        case .whole: 1
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
        guard let resize = ResizeStage(first) else {
            return facts.hasLuma && traits(first.name).contains(.lumaOnly) ? .grey(1) : .whole
        }
        // Who names a kernel wants every pixel to pass through it.
        guard resize.mayShrinkWhileDecoding else { return .whole }
        let next = stages.count > 1 ? traits(stages[1].name) : []
        // TurboJPEG rounds up to whole pixels; libvips' loaders leave out the last part of one.
        if facts.hasLuma, next.contains(.lumaOnly) { return .grey(shrink(facts, for: resize) { ($0 + $1 - 1) / $1 }) }
        let shrink = shrink(facts, for: resize) { $0 / $1 }
        return shrink > 1 ? .shrunk(shrink) : .whole
    }

    /// The largest power of two that leaves the decoder's picture at least as large as the target.
    private static func shrink(
        _ facts: Facts, for resize: ResizeStage, _ decoded: (_ size: Int, _ shrink: Int) -> Int
    ) -> Int {
        let target = resize.target(stored: facts.width, facts.height, isTurned: facts.isTurned)
        return [8, 4, 2].first {
            decoded(facts.width, $0) >= target.width && decoded(facts.height, $0) >= target.height
        } ?? 1
    }
}
