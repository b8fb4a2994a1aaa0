/// Pixels of known dimensions: a libvips picture, or planes in memory.
protocol SizedPixels {
    var width: Int { get }
    var height: Int { get }
}

/// The pixels from which outputs are made: the decoded pixels, and smaller versions in memory. Each smaller version was
/// made for one output, and can serve later outputs.
struct DecodedPixels<Pixels: SizedPixels> {
    /// The decoded pixels, then the smaller versions, largest first.
    private var all: [Pixels]

    init(_ decoded: Pixels) { all = [decoded] }

    var whole: Pixels { all[0] }

    /// The smallest version from which the target can be made without visible loss.
    func smallest(for target: ResizeStage.Target) -> Pixels {
        all.dropFirst().last { target.isServed(by: $0.width, $0.height) } ?? whole
    }

    mutating func keep(_ pixels: Pixels) { all.append(pixels) }
}
