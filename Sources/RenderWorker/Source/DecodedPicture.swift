import PipelineModel

/// The pixels that outputs begin with: as they were decoded, and, of those that are in memory, smaller ones that were made of them
/// for one output and serve the next.
struct DecodedPicture {
    /// The largest first.
    private var pictures: [Picture]

    init(_ picture: Picture) { pictures = [picture] }

    /// The smallest that the target can be made of without loss.
    func picture(for target: ResizeStage.Target?) -> Picture {
        guard let target else { return pictures[0] }
        return pictures.dropFirst().last { target.isServed(by: $0.width, $0.height) } ?? pictures[0]
    }

    mutating func keep(_ picture: Picture) { pictures.append(picture) }
}
