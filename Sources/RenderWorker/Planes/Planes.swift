/// A picture as its luma and its two differences of colours, as JPEG stores it. Differences lie between the pixels of
/// luma that share them, in the middle.
struct Planes {
    let luma: Plane
    /// Blue and red.
    let colours: [Plane]
    /// The pixels of luma, across and down, that share a difference of colours.
    let shared: Subsampling
    /// The picture's own size, which may end within the last pixel.
    let width: Double
    let height: Double

    struct Subsampling: Equatable {
        var across: Int
        var down: Int

        static let none = Subsampling(across: 1, down: 1)
        static let quarter = Subsampling(across: 2, down: 2)

        /// The size of a difference's plane.
        func size(_ width: Int, _ height: Int) -> (width: Int, height: Int) {
            ((width + across - 1) / across, (height + down - 1) / down)
        }

        /// The samples of a pixel.
        var samples: Double { 1 + 2 / Double(across * down) }
    }

    /// The picture at the target's size, cut out of its middle, upright, and with colours shared in another way. Nil
    /// when there is no memory for it.
    func made(_ target: ResizeStage.Target, _ shared: Subsampling, orientation: Int) -> Planes? {
        let isOfSize = target.isReached(by: luma.width, luma.height)
        let x = isOfSize ? 1 : width / Double(target.width)
        let y = isOfSize ? 1 : height / Double(target.height)
        let (cutWidth, cutHeight) = (min(target.cropWidth, target.width), min(target.cropHeight, target.height))
        let (left, top) = ((target.width - cutWidth) / 2, (target.height - cutHeight) / 2)
        let turn = Turn(orientation)
        // Colours are shared as the upright picture wants it.
        let stored = turn.isTurned ? Subsampling(across: shared.down, down: shared.across) : shared

        func region(_ count: (width: Int, height: Int), _ from: Subsampling, _ to: Subsampling) -> Plane.Region {
            // Pixels that share a difference in the upright picture are counted from its own edge.
            let shiftX = turn.mirrorsX ? cutWidth - count.width * to.across : 0
            let shiftY = turn.mirrorsY ? cutHeight - count.height * to.down : 0
            return Plane.Region(
                left: Double(left + shiftX) * x / Double(from.across),
                top: Double(top + shiftY) * y / Double(from.down),
                width: Double(count.width * to.across) * x / Double(from.across),
                height: Double(count.height * to.down) * y / Double(from.down))
        }
        func made(_ plane: Plane, _ from: Subsampling, _ to: Subsampling) -> Plane? {
            let count = to.size(cutWidth, cutHeight)
            return plane.resized(region(count, from, to), to: count.width, count.height)
                .flatMap { turn.isNone ? $0 : turn.apply(to: $0) }
        }
        guard let newLuma = made(luma, .none, .none) else { return nil }
        let newColours = colours.compactMap { made($0, self.shared, stored) }
        guard newColours.count == colours.count else { return nil }
        return Planes(
            luma: newLuma, colours: newColours, shared: shared, width: Double(newLuma.width),
            height: Double(newLuma.height))
    }

    /// The way from the stored picture to the upright one, by EXIF's number.
    private struct Turn {
        let isTurned: Bool
        /// The stored picture is read from its right, or from its bottom.
        let mirrorsX: Bool
        let mirrorsY: Bool

        init(_ orientation: Int) {
            isTurned = orientation >= 5
            mirrorsX = [2, 3, 7, 8].contains(orientation)
            mirrorsY = [3, 4, 6, 7].contains(orientation)
        }

        var isNone: Bool { !isTurned && !mirrorsX && !mirrorsY }

        func apply(to plane: Plane) -> Plane? {
            let (width, height) = isTurned ? (plane.height, plane.width) : (plane.width, plane.height)
            return plane.moved(to: width, height) { x, y in
                let (x, y) = isTurned ? (y, x) : (x, y)
                return (mirrorsX ? plane.width - 1 - x : x, mirrorsY ? plane.height - 1 - y : y)
            }
        }
    }
}
