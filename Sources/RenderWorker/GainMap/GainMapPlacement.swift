import CPipelinePlugin

/// The part of a picture that a result shows, and its position in the result. The result's gain map has the same
/// placement, at its own scale.
struct GainMapPlacement {
    /// The size of the result.
    private(set) var width: Int
    private(set) var height: Int
    /// The part of the stored picture that the result shows, in fractions of the picture's sides.
    private(set) var part = Plane.Region(left: 0, top: 0, width: 1, height: 1)
    /// How the part is turned.
    private(set) var turn: Turn
    /// Where the turned part lies in the result. A frame may surround it.
    private(set) var place: Plane.Region
    /// Whether the result has no colours.
    var isLuma = false

    /// The whole picture, upright.
    init(stored width: Int, _ height: Int, orientation: Int) {
        turn = Turn(orientation)
        (self.width, self.height) = turn.isTurned ? (height, width) : (width, height)
        place = Plane.Region(left: 0, top: 0, width: Double(self.width), height: Double(self.height))
    }

    func resized(to target: ResizeStage.Target) -> GainMapPlacement? {
        let (x, y) = (Double(target.width) / Double(width), Double(target.height) / Double(height))
        var result = self
        (result.width, result.height) = (target.width, target.height)
        result.place = Plane.Region(
            left: place.left * x, top: place.top * y, width: place.width * x, height: place.height * y)
        let (width, height) = (min(target.cropWidth, target.width), min(target.cropHeight, target.height))
        return result.cut((target.width - width) / 2, (target.height - height) / 2, width, height)
    }

    func arranged(_ next: PipelineArrangement) -> GainMapPlacement? {
        guard next.width > 0, next.height > 0 else { return nil }
        return cut(Int(next.left), Int(next.top), Int(next.width), Int(next.height))?
            .turned(Turn(isMirrored: next.is_mirrored != 0, quarters: Int(next.quarters)))
    }

    /// Cuts the result to a rectangle, which may extend beyond the result's edges. Nil if the rectangle contains
    /// nothing of the picture.
    private func cut(_ left: Int, _ top: Int, _ width: Int, _ height: Int) -> GainMapPlacement? {
        let (across, down) = (Double(width), Double(height))
        let start = (x: max(place.left, Double(left)), y: max(place.top, Double(top)))
        let end = (
            x: min(place.left + place.width, Double(left) + across),
            y: min(place.top + place.height, Double(top) + down)
        )
        guard end.x > start.x, end.y > start.y else { return nil }
        var result = self
        (result.width, result.height) = (width, height)
        result.place = Plane.Region(
            left: start.x - Double(left), top: start.y - Double(top), width: end.x - start.x, height: end.y - start.y)
        let shown = Plane.Region(
            left: (start.x - place.left) / place.width, top: (start.y - place.top) / place.height,
            width: result.place.width / place.width, height: result.place.height / place.height)
        let stored =
            turn.isTurned
            ? Plane.Region(left: shown.top, top: shown.left, width: shown.height, height: shown.width) : shown
        result.part.left += part.width * (turn.mirrorsX ? 1 - stored.left - stored.width : stored.left)
        result.part.top += part.height * (turn.mirrorsY ? 1 - stored.top - stored.height : stored.top)
        (result.part.width, result.part.height) = (part.width * stored.width, part.height * stored.height)
        return result
    }

    private func turned(_ step: Turn) -> GainMapPlacement {
        var result = self
        if step.mirrorsX { result.place.left = Double(width) - place.left - place.width }
        if step.mirrorsY { result.place.top = Double(height) - place.top - place.height }
        if step.isTurned {
            let place = result.place
            result.place = Plane.Region(left: place.top, top: place.left, width: place.height, height: place.width)
            (result.width, result.height) = (height, width)
        }
        result.turn = turn.followed(by: step)
        return result
    }

    /// The size of a result's map.
    struct Size: Equatable {
        /// The size of the whole map, including the frame around the picture's part.
        var width: Int
        var height: Int
        /// Where the part begins in the map, in samples.
        var left = 0
        var top = 0
        var placedWidth: Int
        var placedHeight: Int

        var isFramed: Bool { placedWidth != width || placedHeight != height }
    }

    /// A small result's map has at least this many samples per side, if the source's map has enough samples.
    private static let leastSide = 128.0

    /// The size of the result's map. The map has as many samples per pixel as the map of the stored picture. A small
    /// result's map has more samples per pixel, but at most as many samples as the source's map has for the same part
    /// of the picture.
    func size(ofMap map: (width: Int, height: Int), of stored: (width: Int, height: Int)) -> Size {
        let across = (there: Double(map.width) * part.width, share: Double(map.width) / Double(stored.width))
        let down = (there: Double(map.height) * part.height, share: Double(map.height) / Double(stored.height))
        let (x, y) = turn.isTurned ? (down, across) : (across, down)
        let least = min(1, Self.leastSide / Double(min(width, height)))
        func side(_ whole: Int, _ start: Double, _ placed: Double, _ samples: (there: Double, share: Double)) -> (
            whole: Int, start: Int, placed: Int
        ) {
            let scale = min(samples.there / placed, max(samples.share, least))
            func scaled(_ pixels: Double) -> Int { Int((pixels * scale).rounded()) }
            let all = max(1, scaled(Double(whole)))
            let length = min(all, max(1, scaled(placed)))
            return (all, min(max(0, scaled(start)), all - length), length)
        }
        let (columns, rows) = (side(width, place.left, place.width, x), side(height, place.top, place.height, y))
        return Size(
            width: columns.whole, height: rows.whole, left: columns.start, top: rows.start,
            placedWidth: columns.placed, placedHeight: rows.placed)
    }
}
