/// A picture as luma and two chroma planes, as JPEG and WebP store it, or as luma alone. A chroma sample lies at the
/// centre of the luma pixels that share it.
struct Planes: SizedPixels {
    let luma: Plane
    /// The chroma planes, blue and red; empty in a picture without colours.
    let colours: [Plane]
    /// Number of luma pixels, across and down, that share a chroma sample.
    let shared: Subsampling
    let range: SampleRange
    /// The picture's exact size, in pixels of these planes. When a decoder shrinks a picture, it rounds the size up, so
    /// the last pixel may be partial.
    private let exactWidth: Double
    private let exactHeight: Double

    struct Subsampling: Equatable {
        var across: Int
        var down: Int

        static let none = Subsampling(across: 1, down: 1)
        static let quarter = Subsampling(across: 2, down: 2)

        /// The size of a chroma plane.
        func size(_ width: Int, _ height: Int) -> (width: Int, height: Int) {
            ((width + across - 1) / across, (height + down - 1) / down)
        }

        /// Samples per pixel.
        var samples: Double { 1 + 2 / Double(across * down) }

        fileprivate var turned: Subsampling { Subsampling(across: down, down: across) }
    }

    /// `exactSize` defaults to the size of the planes.
    init(
        luma: Plane, colours: [Plane], shared: Subsampling, range: SampleRange,
        exactSize: (width: Double, height: Double)? = nil
    ) {
        (self.luma, self.colours, self.shared, self.range) = (luma, colours, shared, range)
        exactWidth = exactSize?.width ?? Double(luma.width)
        exactHeight = exactSize?.height ?? Double(luma.height)
    }

    var width: Int { luma.width }
    var height: Int { luma.height }

    var withoutColours: Planes {
        Planes(luma: luma, colours: [], shared: .none, range: range, exactSize: (exactWidth, exactHeight))
    }

    /// The picture with chroma. A picture without chroma gets neutral chroma. Nil when memory can't be allocated.
    var withColours: Planes? {
        guard colours.isEmpty else { return self }
        let size = Subsampling.quarter.size(width, height)
        return made(.quarter, luma, (0..<2).map { _ in Plane(grey: size) })
    }

    /// Scales the picture to the target's size and cuts it, in the stored orientation. After `upright` has turned the
    /// result, its chroma has the subsampling `shared`. Nil when memory can't be allocated.
    func resized(
        _ target: ResizeStage.Target, _ part: Arrangement, _ shared: Subsampling, _ resizers: Resizers
    ) -> Planes? {
        let isOfSize = target.isReached(by: width, height)
        let x = isOfSize ? 1 : exactWidth / Double(target.width)
        let y = isOfSize ? 1 : exactHeight / Double(target.height)
        let turn = part.turn
        let stored = turn.isTurned ? shared.turned : shared

        func region(_ count: (width: Int, height: Int), _ from: Subsampling, _ to: Subsampling) -> Plane.Region {
            // Groups of pixels that share chroma begin at the left and top edges of the upright picture. If the stored
            // picture is mirrored, the groups begin at its right or bottom edge.
            let shiftX = turn.mirrorsX ? part.width - count.width * to.across : 0
            let shiftY = turn.mirrorsY ? part.height - count.height * to.down : 0
            return Plane.Region(
                left: Double(part.left + shiftX) * x / Double(from.across),
                top: Double(part.top + shiftY) * y / Double(from.down),
                width: Double(count.width * to.across) * x / Double(from.across),
                height: Double(count.height * to.down) * y / Double(from.down))
        }
        func resized(_ plane: Plane, _ from: Subsampling, _ to: Subsampling) -> Plane? {
            let count = to.size(part.width, part.height)
            return plane.resized(region(count, from, to), to: count.width, count.height, resizers)
        }
        return made(stored, resized(luma, .none, .none), colours.map { resized($0, self.shared, stored) })
    }

    /// The picture turned upright.
    func upright(_ turn: Turn) -> Planes? {
        guard !turn.isNone else { return self }
        return made(turn.isTurned ? shared.turned : shared, turn.apply(to: luma), colours.map(turn.apply))
    }

    /// For planes from `resized`, before `turn`: whether the groups of pixels that share chroma begin at the first
    /// pixel. If the picture will be mirrored along a side whose length is not a multiple of the subsampling, they
    /// begin at the opposite edge.
    func beginsEvenly(before turn: Turn) -> Bool {
        (!turn.mirrorsX || width % shared.across == 0) && (!turn.mirrorsY || height % shared.down == 0)
    }

    /// Maps luma through a table for the full range, and drops the colours. If `isNeeded` is false, no other
    /// result needs these planes, and this function overwrites their memory.
    func withLuma(_ table: [UInt8], isNeeded: Bool) -> Planes? {
        luma.mapped(range.luma(to: .full).map { table[Int($0)] }, inPlace: !isNeeded)
            .map { Planes(luma: $0, colours: [], shared: .none, range: .full) }
    }

    /// Converts the picture to another range. If `isNeeded` is false, overwrites this picture's memory.
    func inRange(_ other: SampleRange, isNeeded: Bool) -> Planes? {
        guard range != other else { return self }
        let (luma, colours) = (range.luma(to: other), range.colour(to: other))
        return made(
            shared, self.luma.mapped(luma, inPlace: !isNeeded),
            self.colours.map { $0.mapped(colours, inPlace: !isNeeded) }, in: other)
    }

    func made(
        _ shared: Subsampling, _ luma: Plane?, _ colours: [Plane?], in range: SampleRange? = nil
    ) -> Planes? {
        let present = colours.compactMap(\.self)
        guard let luma, present.count == colours.count else { return nil }
        return Planes(luma: luma, colours: present, shared: shared, range: range ?? self.range)
    }
}

/// The range of a sample's values.
enum SampleRange {
    /// The range in a JPEG: from 0 to 255.
    case full
    /// The range in a WebP: luma from 16 to 235, chroma from 16 to 240.
    case limited

    /// The values in another range, indexed by the values in this range.
    func luma(to other: SampleRange) -> [UInt8] { table(other, 16, 219) }
    func colour(to other: SampleRange) -> [UInt8] { table(other, 128, 224) }

    private func table(_ other: SampleRange, _ fixed: Double, _ steps: Double) -> [UInt8] {
        // Luma 16 becomes 0, but the neutral value of chroma, 128, is the same in both ranges.
        let origin = fixed == 128 ? fixed : 0
        return (0..<256).map { value in
            let result =
                switch (self, other) {
                case (.limited, .full): (Double(value) - fixed) * 255 / steps + origin
                case (.full, .limited): (Double(value) - origin) * steps / 255 + fixed
                default: Double(value)
                }
            return UInt8(min(255, max(0, result.rounded())))
        }
    }
}

/// The transformation from the stored picture to the upright picture, by EXIF's orientation number.
struct Turn {
    let isTurned: Bool
    /// Whether the stored picture is read from right to left (`mirrorsX`) or from bottom to top (`mirrorsY`).
    let mirrorsX: Bool
    let mirrorsY: Bool

    init(_ orientation: Int) {
        isTurned = orientation >= 5
        mirrorsX = [2, 3, 7, 8].contains(orientation)
        mirrorsY = [3, 4, 6, 7].contains(orientation)
    }

    private init(isTurned: Bool, mirrorsX: Bool, mirrorsY: Bool) {
        (self.isTurned, self.mirrorsX, self.mirrorsY) = (isTurned, mirrorsX, mirrorsY)
    }

    /// Mirrors the picture if `isMirrored` is true, then rotates it clockwise by this number of quarter turns.
    init(isMirrored: Bool, quarters: Int) {
        let quarters = quarters & 3
        self.init(
            isTurned: quarters % 2 == 1, mirrorsX: isMirrored != (quarters >= 2),
            mirrorsY: quarters == 1 || quarters == 2)
    }

    /// This turn, followed by another turn.
    func followed(by next: Turn) -> Turn {
        Turn(
            isTurned: isTurned != next.isTurned, mirrorsX: mirrorsX != (isTurned ? next.mirrorsY : next.mirrorsX),
            mirrorsY: mirrorsY != (isTurned ? next.mirrorsX : next.mirrorsY))
    }

    var isNone: Bool { !isTurned && !mirrorsX && !mirrorsY }

    fileprivate func apply(to plane: Plane) -> Plane? {
        let (width, height) = isTurned ? (plane.height, plane.width) : (plane.width, plane.height)
        return plane.moved(to: width, height) { x, y in
            let (x, y) = isTurned ? (y, x) : (x, y)
            return (mirrorsX ? plane.width - 1 - x : x, mirrorsY ? plane.height - 1 - y : y)
        }
    }
}
