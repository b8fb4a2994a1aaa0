import CPipelinePlugin

/// Where the pixels of a resized picture go in the result. Combines the crop, the turn to the upright orientation, and
/// the filters that only move pixels. The worker applies all of these to planes, together with the resize.
struct Arrangement {
    /// The part that the result shows, in the stored orientation.
    private(set) var left: Int
    private(set) var top: Int
    private(set) var width: Int
    private(set) var height: Int
    /// How the part is turned.
    private(set) var turn: Turn
    /// The frame around the turned part, if any.
    private(set) var frame: Frame?

    struct Frame {
        /// The size with the frame.
        var width: Int
        var height: Int
        /// Where the picture begins within the frame.
        var left: Int
        var top: Int
        var red: UInt8
        var green: UInt8
        var blue: UInt8

        var isGrey: Bool { red == green && green == blue }
    }

    /// The middle of a resized picture, turned upright.
    init(_ target: ResizeStage.Target, _ turn: Turn) {
        (width, height) = (min(target.cropWidth, target.width), min(target.cropHeight, target.height))
        (left, top) = ((target.width - width) / 2, (target.height - height) / 2)
        self.turn = turn
    }

    /// The size without the frame.
    var size: (width: Int, height: Int) { turn.isTurned ? (height, width) : (width, height) }

    /// Whether the part and the frame's borders consist of whole groups of pixels that share chroma.
    func isWhole(in shared: Planes.Subsampling) -> Bool {
        guard let frame else { return true }
        return [frame.left, size.width, frame.width].allSatisfy { $0.isMultiple(of: shared.across) }
            && [frame.top, size.height, frame.height].allSatisfy { $0.isMultiple(of: shared.down) }
    }

    /// This arrangement followed by the arrangement of a filter; nil if planes can't be arranged that way.
    func followed(by next: PipelineArrangement) -> Arrangement? {
        guard frame == nil, next.width > 0, next.height > 0 else { return nil }
        let (left, top) = (Int(next.left), Int(next.top))
        let (right, bottom) = (left + Int(next.width), top + Int(next.height))
        let step = Turn(isMirrored: next.is_mirrored != 0, quarters: Int(next.quarters))
        var result = self
        if left >= 0, top >= 0, right <= size.width, bottom <= size.height {
            result.cut(left, top, Int(next.width), Int(next.height))
            result.turn = turn.followed(by: step)
            return result
        }
        guard left <= 0, top <= 0, right >= size.width, bottom >= size.height, step.isNone else { return nil }
        result.frame = Frame(
            width: Int(next.width), height: Int(next.height), left: -left, top: -top, red: next.colour.0,
            green: next.colour.1, blue: next.colour.2)
        return result
    }

    /// Crops the picture, in coordinates of the upright picture.
    private mutating func cut(_ left: Int, _ top: Int, _ width: Int, _ height: Int) {
        let (x, y, across, down) = turn.isTurned ? (top, left, height, width) : (left, top, width, height)
        self.left += turn.mirrorsX ? self.width - x - across : x
        self.top += turn.mirrorsY ? self.height - y - down : y
        (self.width, self.height) = (across, down)
    }
}

extension Planes {
    /// The picture within a frame. Nil when memory can't be allocated.
    func framed(_ frame: Arrangement.Frame) -> Planes? {
        let (red, green, blue) = (Double(frame.red), Double(frame.green), Double(frame.blue))
        let y = 0.299 * red + 0.587 * green + 0.114 * blue
        let (luma, chroma) = (SampleRange.full.luma(to: range), SampleRange.full.colour(to: range))
        func value(_ difference: Double, _ scale: Double) -> UInt8 {
            chroma[Int(min(255, (128 + difference / scale).rounded()))]
        }
        func framed(_ plane: Plane, _ shared: Subsampling, _ value: UInt8) -> Plane? {
            let size = shared.size(frame.width, frame.height)
            return plane.framed(
                to: size.width, size.height, left: frame.left / shared.across, top: frame.top / shared.down, value)
        }
        let values = [value(blue - y, 1.772), value(red - y, 1.402)]
        return made(
            shared, framed(self.luma, .none, luma[Int(y.rounded())]),
            zip(colours, values).map { framed($0, shared, $1) })
    }
}
