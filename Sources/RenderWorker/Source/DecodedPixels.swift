/// Pixels in memory, or a lazy picture that will yield them.
protocol SizedPixels {
    var width: Int { get }
    var height: Int { get }
}

/// The pixels with which outputs begin: the decoded pixels, and smaller versions in memory that were made for one
/// output and serve the next.
struct DecodedPixels<Pixels: SizedPixels> {
    /// Largest first.
    private var all: [Pixels]

    init(_ decoded: Pixels) { all = [decoded] }

    var whole: Pixels { all[0] }

    /// The smallest pixels from which the target can be made without loss.
    func smallest(for target: ResizeStage.Target) -> Pixels {
        all.dropFirst().last { target.isServed(by: $0.width, $0.height) } ?? whole
    }

    mutating func keep(_ pixels: Pixels) { all.append(pixels) }
}
