import CVips
import PipelineModel

/// `resize` computes the target size, and scales a picture to it.
struct ResizeStage {
    static let name = "resize"

    /// A size to scale to, and the size of the part to keep from its middle.
    struct Target: Equatable {
        var width: Int
        var height: Int
        var cropWidth: Int
        var cropHeight: Int

        static func whole(_ width: Int, _ height: Int) -> Target {
            Target(width: width, height: height, cropWidth: width, cropHeight: height)
        }

        var turned: Target { Target(width: height, height: width, cropWidth: cropHeight, cropHeight: cropWidth) }
        /// Number of pixels before cropping.
        var pixels: Int { width * height }
        var isCropped: Bool { cropWidth != width || cropHeight != height }
        /// Whether cropping leaves out the last rows.
        var cutsRows: Bool { cropHeight < height }

        /// Whether a picture of this size needs no scaling, and at most cropping. When a decoder shrinks a picture, it
        /// rounds the size up, so the last column or row may cover only a fraction of a pixel. Scaling the whole
        /// picture to exclude that fraction would blur the picture. So the last column or row is cropped instead, if it
        /// is a small part of the picture.
        func isReached(by width: Int, _ height: Int) -> Bool {
            func isEdge(_ size: Int, _ wanted: Int) -> Bool { size == wanted || (size == wanted + 1 && wanted >= 100) }
            return isEdge(width, self.width) && isEdge(height, self.height)
        }

        /// Whether a picture of this size is large enough to be resized again to the target without visible loss.
        func isServed(by width: Int, _ height: Int) -> Bool { width >= 2 * self.width && height >= 2 * self.height }
    }

    /// libvips' own limit for a side. It keeps sizes finite when a chain enlarges a picture many times.
    private static let mostASide = 10_000_000.0

    private let scale: Double?
    private let width: Double?
    private let height: Double?
    private let edge: Double?
    private let fit: String
    let kernel: String

    init?(_ stage: Stage) {
        guard stage.name == Self.name else { return nil }
        scale = stage.arguments["scale"]?.number
        width = stage.arguments["width"]?.number
        height = stage.arguments["height"]?.number
        edge = stage.arguments["edge"]?.number
        fit = stage.arguments["fit"]?.text ?? "inside"
        kernel = stage.arguments["kernel"]?.text ?? "auto"
    }

    var mayShrinkWhileDecoding: Bool { kernel == "auto" }

    func target(_ sourceWidth: Int, _ sourceHeight: Int) -> Target {
        let (w, h) = (Double(sourceWidth), Double(sourceHeight))
        func sized(_ x: Double, _ y: Double) -> Target {
            // Half a pixel rounds down, as in decoders that halve an odd side.
            func side(_ size: Double) -> Int { Int(max(1, min((size - 0.5).rounded(.up), Self.mostASide))) }
            let (x, y) = (side(w * x), side(h * y))
            return Target(width: x, height: y, cropWidth: x, cropHeight: y)
        }
        if let scale { return sized(scale, scale) }
        switch (fit, width, height) {
        case ("exact", let width?, let height?):
            return sized(width / w, height / h)
        case ("cover", let width?, let height?):
            let factor = max(width / w, height / h)
            var target = sized(factor, factor)
            (target.cropWidth, target.cropHeight) = (Int(width), Int(height))
            (target.width, target.height) = (max(target.width, Int(width)), max(target.height, Int(height)))
            return target
        default:
            let (width, height) = (edge ?? width, edge ?? height)
            let factor = min(width.map { $0 / w } ?? 1, height.map { $0 / h } ?? 1, 1)
            return sized(factor, factor)
        }
    }

    /// The target in the picture's stored orientation.
    func target(stored width: Int, _ height: Int, isTurned: Bool) -> Target {
        isTurned ? target(height, width).turned : target(width, height)
    }

    /// Scales a picture, which the decoder may have shrunk already, and crops it to the target. If rows will be
    /// cropped, passes the picture through `buffer` before the crop. If the scaling enlarges the picture, calls
    /// `buffer` before the scaling; otherwise calls `buffer` after the scaling.
    func apply(
        _ target: Target, to picture: Picture, buffering buffer: (Picture) throws -> Picture = { $0 }
    ) throws -> Picture {
        let growsFirst = target.pixels > picture.width * picture.height
        var result = try withoutRoundedUpEdge(target.cutsRows && growsFirst ? buffer(picture) : picture, target)
        if result.width != target.width || result.height != target.height {
            let x = Double(target.width) / Double(result.width)
            let y = Double(target.height) / Double(result.height)
            result = try scaled(result, x, y)
        }
        guard result.width != target.cropWidth || result.height != target.cropHeight else { return result }
        let (width, height) = (min(target.cropWidth, result.width), min(target.cropHeight, result.height))
        let (left, top) = ((result.width - width) / 2, (result.height - height) / 2)
        if target.cutsRows, !growsFirst { result = try buffer(result) }
        return try result.then { cvips_crop($0, $1, Int32(left), Int32(top), Int32(width), Int32(height)) }
    }

    private func withoutRoundedUpEdge(_ picture: Picture, _ target: Target) throws -> Picture {
        guard mayShrinkWhileDecoding, target.isReached(by: picture.width, picture.height) else { return picture }
        return try picture.then { cvips_crop($0, $1, 0, 0, Int32(target.width), Int32(target.height)) }
    }

    private func scaled(_ picture: Picture, _ x: Double, _ y: Double) throws -> Picture {
        let kernel = vipsKernel
        guard picture.hasAlpha else { return try picture.then { cvips_resize($0, $1, x, y, kernel) } }
        // Premultiply by alpha. Otherwise the hidden colours of transparent pixels would bleed into opaque pixels.
        let format = picture.format
        let opaque: Double = picture.is16Bit ? 65535 : 255
        return try picture.then { cvips_premultiply($0, $1, opaque) }
            .then { cvips_resize($0, $1, x, y, kernel) }
            .then { cvips_unpremultiply($0, $1, opaque) }
            .then { cvips_rint($0, $1) }
            .then { cvips_cast($0, $1, format, 0) }
    }

    private var vipsKernel: VipsKernel {
        switch kernel {
        case "nearest": VIPS_KERNEL_NEAREST
        case "linear": VIPS_KERNEL_LINEAR
        case "cubic": VIPS_KERNEL_CUBIC
        case "mitchell": VIPS_KERNEL_MITCHELL
        case "lanczos2": VIPS_KERNEL_LANCZOS2
        default: VIPS_KERNEL_LANCZOS3
        }
    }
}
