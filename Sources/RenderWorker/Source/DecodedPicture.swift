import PipelineModel

/// The pixels with which outputs begin: the decoded picture, and smaller pictures in memory that were made for one
/// output and serve the next.
struct DecodedPicture {
    /// The pictures, the largest first.
    private var pictures: [Picture]

    init(_ picture: Picture) { pictures = [picture] }

    /// The smallest picture of which the target can be made without loss.
    func picture(for target: ResizeStage.Target?) -> Picture {
        guard let target else { return pictures[0] }
        return pictures.dropFirst().last { target.isServed(by: $0.width, $0.height) } ?? pictures[0]
    }

    mutating func keep(_ picture: Picture) { pictures.append(picture) }
}
