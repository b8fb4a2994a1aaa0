import PipelineModel

/// Plans how a picture is decoded for its outputs. All outputs share one decoding, unless several decodings cost less.
struct DecodePlan {
    struct Decoding {
        var path: DecoderPath
        /// Outputs that are made from this decoding, by their index in the job.
        var outputs: [Int]

        /// Whether the decoded pixels stay in memory, because several outputs are made from them.
        var isShared: Bool { outputs.count > 1 }
    }

    let decodings: [Decoding]
    /// How each output is decoded, in words.
    let words: [String]

    /// Maximum size of a shared picture, which is held in memory as a whole. Larger pictures are decoded again for each
    /// output, line by line.
    private static let mostShared = 128 << 20

    init(
        _ outputs: [[Stage]], of facts: SourceFacts, _ traits: (Stage) -> Set<StageTrait>,
        movesPixels: (Stage) -> Bool, bytesPerPixel: (DecoderPath) -> Int
    ) {
        let paths = outputs.map { DecoderPath.choose(facts, $0, traits, movesPixels: movesPixels) }
        func decoding(_ outputs: [Int]) -> Decoding? {
            guard let first = outputs.first else { return nil }
            var path = paths[first]
            let others = outputs.map { paths[$0] }
            path.shrink = others.map(\.shrink).min() ?? 1
            if others.contains(where: { $0.colours != path.colours }) {
                path.colours = others.allSatisfy(\.isOfPlanes) ? .planes : .all
                if path.colours == .all { path.shrink = others.map(\.plainShrink).min() ?? 1 }
            }
            return Decoding(path: path, outputs: outputs)
        }
        func bytes(_ path: DecoderPath) -> Int {
            facts.width / path.shrink * (facts.height / path.shrink) * bytesPerPixel(path)
        }
        // An animation's frames are decoded one after the other, for one output at a time.
        let stills = paths.indices.filter { paths[$0].frames == 1 }
        let greys = stills.filter { paths[$0].isGrey }, others = stills.filter { !paths[$0].isGrey }
        let (all, grey, other) = (decoding(stills), decoding(greys), decoding(others))
        var chosen = [all]
        if let grey, let other, grey.path.shrink < other.path.shrink, facts.luma == .stored {
            // Decoding luma at a large size plus colours at a small size costs less than decoding colours at the large
            // size.
            chosen = [grey, other]
        }
        let ofStills = chosen.compactMap(\.self).flatMap { decoding in
            // Develop a camera's samples once for all outputs, however large the picture is. Developing takes longer
            // than all other steps, and holds the result in memory anyway.
            decoding.isShared && bytes(decoding.path) > Self.mostShared && facts.format != .raw
                ? decoding.outputs.map { Decoding(path: paths[$0], outputs: [$0]) } : [decoding]
        }
        let animations = paths.indices.filter { paths[$0].frames > 1 }
        decodings = ofStills + animations.map { Decoding(path: paths[$0], outputs: [$0]) }
        var words = Array(repeating: "", count: outputs.count)
        for decoding in decodings {
            let shared = decoding.isShared ? ", once for \(decoding.outputs.count) outputs" : ""
            for output in decoding.outputs {
                words[output] =
                    "\(facts.camera ?? facts.format.rawValue), \(decoding.path.words)\(shared)"
                    + facts.decoder(decoding.path) + facts.resizer(decoding.path, outputs[output])
                    + " (\(paths[output].reason))"
            }
        }
        self.words = words
    }
}
