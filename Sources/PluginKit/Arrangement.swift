import CPipelinePlugin
import CVips

/// Where a filter with the trait `movesPixels` puts the pixels of its input.
public struct Arrangement: Sendable, Hashable {
    /// The part of the input that the result shows, in pixels. It lies within the input, or encloses all of it. If it
    /// encloses the input, opaque `colour` fills the space around the input.
    public var left = 0, top = 0, width: Int, height: Int
    public var colour = Colour(red: 0, green: 0, blue: 0)
    /// `isMirrored` mirrors the part left to right. After the mirroring, `quarters` turns the part clockwise by quarter
    /// turns.
    public var isMirrored = false
    public var quarters = 0

    /// Creates an arrangement that shows the whole input.
    public init(width: Int, height: Int) { (self.width, self.height) = (width, height) }

    var exported: PipelineArrangement {
        func byte(_ value: Double) -> UInt8 { UInt8(min(255, max(0, value))) }
        return PipelineArrangement(
            left: Int32(clamping: left), top: Int32(clamping: top), width: Int32(clamping: width),
            height: Int32(clamping: height), colour: (byte(colour.red), byte(colour.green), byte(colour.blue)),
            is_mirrored: isMirrored ? 1 : 0, quarters: Int32(clamping: quarters))
    }
}

extension Image {
    /// Returns the arranged picture. A grey picture stays grey if the fill colour is grey, or if nothing needs to be
    /// filled.
    public func arranged(_ to: Arrangement) throws -> Image {
        let isFilled = to.left < 0 || to.top < 0 || to.left + to.width > width || to.top + to.height > height
        let isGrey = to.colour.red == to.colour.green && to.colour.green == to.colour.blue
        let picture =
            isFilled && !isGrey && colours == 1
            ? try keepingAlpha { try $0.bandjoin($0, $0).copy(interpretation: is16Bit ? "rgb16" : "srgb") } : self
        let bands = (picture.colours == 1 ? [to.colour.red] : to.colour.bands).map { $0 * white / 255 }
        let part = try picture.embed(
            x: -to.left, y: -to.top, width: to.width, height: to.height, extend: "background",
            background: bands + (hasAlpha ? [white] : []))
        let mirrored = to.isMirrored ? try part.flip("horizontal") : part
        let angle = (to.quarters & 3) * 90
        return angle == 0 ? mirrored : try mirrored.rot("d\(angle)")
    }
}
