/// The libvips operations that most filters use; `call` reaches all others.
extension Image {
    // MARK: - Samples

    /// Multiplies each sample by `factor` and adds `offset`. Each list has one value for each band, or a single value
    /// for all bands. The result's samples are 8-bit integers if `uchar` is true, and floating-point numbers otherwise.
    public func linear(_ factor: [Double], _ offset: [Double], uchar: Bool = false) throws -> Image {
        try Self.call(
            "linear",
            ["in": .image(self), "a": .numbers(factor), "b": .numbers(offset), "uchar": uchar ? 1 : 0])
    }

    public func invert() throws -> Image { try Self.call("invert", ["in": .image(self)]) }
    public func add(_ other: Image) throws -> Image {
        try Self.call("add", ["left": .image(self), "right": .image(other)])
    }
    public func subtract(_ other: Image) throws -> Image {
        try Self.call("subtract", ["left": .image(self), "right": .image(other)])
    }
    public func multiply(_ other: Image) throws -> Image {
        try Self.call("multiply", ["left": .image(self), "right": .image(other)])
    }
    public func divide(_ other: Image) throws -> Image {
        try Self.call("divide", ["left": .image(self), "right": .image(other)])
    }
    public func rint() throws -> Image { try Self.call("round", ["in": .image(self), "round": "rint"]) }
    public func abs() throws -> Image { try Self.call("abs", ["in": .image(self)]) }

    /// `operation` is a libvips name: `sin`, `exp`, `log`, ….
    public func math(_ operation: String) throws -> Image {
        try Self.call("math", ["in": .image(self), "math": .text(operation)])
    }

    /// `operation` is a libvips name: `pow`, `wop` or `atan2`.
    public func math2Const(_ operation: String, _ values: [Double]) throws -> Image {
        try Self.call("math2_const", ["in": .image(self), "math2": .text(operation), "c": .numbers(values)])
    }

    /// `relation` is a libvips name: `equal`, `less`, `more`, …. A sample of the result is 255 if the relation holds,
    /// otherwise 0.
    public func relationalConst(_ relation: String, _ values: [Double]) throws -> Image {
        try Self.call("relational_const", ["in": .image(self), "relational": .text(relation), "c": .numbers(values)])
    }

    /// Takes each pixel from `then` where this picture is not 0, and from `otherwise` elsewhere. If `blend` is true,
    /// mixes `then` and `otherwise` in proportion to this picture's value, from 0 to 255.
    public func ifthenelse(_ then: Image, _ otherwise: Image, blend: Bool = false) throws -> Image {
        try Self.call(
            "ifthenelse",
            ["cond": .image(self), "in1": .image(then), "in2": .image(otherwise), "blend": blend ? 1 : 0])
    }

    /// `format` is a libvips name of a sample type: `uchar`, `ushort`, `float`, ….
    public func cast(_ format: String) throws -> Image {
        try Self.call("cast", ["in": .image(self), "format": .text(format)])
    }

    /// Replaces each sample with its entry in `table`, a picture of 256 × 1 or 65536 × 1 pixels.
    public func maplut(_ table: Image) throws -> Image {
        try Self.call("maplut", ["in": .image(self), "lut": .image(table)])
    }

    // MARK: - Bands and colours

    public func extractBand(_ first: Int, count: Int = 1) throws -> Image {
        try Self.call(
            "extract_band", ["in": .image(self), "band": .number(Double(first)), "n": .number(Double(count))])
    }

    public func bandjoin(_ others: Image...) throws -> Image {
        try Self.call("bandjoin", ["in": .images([self] + others)])
    }

    public func bandmean() throws -> Image { try Self.call("bandmean", ["in": .image(self)]) }

    /// Computes each band of the result as a weighted sum of this picture's bands. Each row of `matrix` contains the
    /// weights for one band of the result.
    public func recomb(_ matrix: [[Double]]) throws -> Image {
        try Self.call("recomb", ["in": .image(self), "m": .image(.matrix(matrix))])
    }

    /// Converts to another colour space. `space` is a libvips name: `srgb`, `b-w`, `lab`, `lch`, `hsv`, ….
    public func colourspace(_ space: String) throws -> Image {
        try Self.call("colourspace", ["in": .image(self), "space": .text(space)])
    }

    /// Keeps the pixels and changes their interpretation.
    public func copy(interpretation: String) throws -> Image {
        try Self.call("copy", ["in": .image(self), "interpretation": .text(interpretation)])
    }

    public func premultiply() throws -> Image { try Self.call("premultiply", ["in": .image(self)]) }
    public func unpremultiply() throws -> Image { try Self.call("unpremultiply", ["in": .image(self)]) }

    // MARK: - Neighbours

    public func gaussblur(sigma: Double) throws -> Image {
        try Self.call("gaussblur", ["in": .image(self), "sigma": .number(sigma)])
    }

    public func sharpen(
        sigma: Double = 0.5, x1: Double = 2, y2: Double = 10, y3: Double = 20, m1: Double = 0, m2: Double = 3
    ) throws
        -> Image
    {
        try Self.call(
            "sharpen",
            [
                "in": .image(self), "sigma": .number(sigma), "x1": .number(x1), "y2": .number(y2), "y3": .number(y3),
                "m1": .number(m1), "m2": .number(m2),
            ])
    }

    /// Replaces each pixel with the sum of its neighbours weighted by `mask`, divided by `scale`.
    public func conv(_ mask: [[Double]], scale: Double = 1) throws -> Image {
        try Self.call("conv", ["in": .image(self), "mask": .image(.matrix(mask.map { $0.map { $0 / scale } }))])
    }

    public func rank(width: Int, height: Int, index: Int) throws -> Image {
        try Self.call(
            "rank",
            [
                "in": .image(self), "width": .number(Double(width)), "height": .number(Double(height)),
                "index": .number(Double(index)),
            ])
    }

    // MARK: - Geometry

    public func resize(_ scale: Double, vscale: Double? = nil) throws -> Image {
        try Self.call("resize", ["in": .image(self), "scale": .number(scale), "vscale": .number(vscale ?? scale)])
    }

    public func extractArea(left: Int, top: Int, width: Int, height: Int) throws -> Image {
        try Self.call(
            "extract_area",
            [
                "input": .image(self), "left": .number(Double(left)), "top": .number(Double(top)),
                "width": .number(Double(width)), "height": .number(Double(height)),
            ])
    }

    /// Places the picture in a larger picture. `extend` is the libvips name of the method that fills the other pixels:
    /// `black`, `copy`, `repeat`, `mirror`, `white` or `background`.
    public func embed(
        x: Int, y: Int, width: Int, height: Int, extend: String = "black", background: [Double] = [0]
    ) throws -> Image {
        try Self.call(
            "embed",
            [
                "in": .image(self), "x": .number(Double(x)), "y": .number(Double(y)), "width": .number(Double(width)),
                "height": .number(Double(height)), "extend": .text(extend), "background": .numbers(background),
            ])
    }

    /// `direction` is a libvips name: `horizontal` or `vertical`.
    public func flip(_ direction: String) throws -> Image {
        try Self.call("flip", ["in": .image(self), "direction": .text(direction)])
    }

    /// `angle` is a libvips name: `d90`, `d180` or `d270`.
    public func rot(_ angle: String) throws -> Image {
        try Self.call("rot", ["in": .image(self), "angle": .text(angle)])
    }

    public func replicate(across: Int, down: Int) throws -> Image {
        try Self.call(
            "replicate", ["in": .image(self), "across": .number(Double(across)), "down": .number(Double(down))])
    }

    // MARK: - Two pictures

    /// Lays `overlay` over this picture. `mode` is a libvips name: `over`, `multiply`, `screen`, `overlay`, ….
    public func composite2(_ overlay: Image, mode: String, x: Int = 0, y: Int = 0) throws -> Image {
        try Self.call(
            "composite2",
            [
                "base": .image(self), "overlay": .image(overlay), "mode": .text(mode), "x": .number(Double(x)),
                "y": .number(Double(y)),
            ])
    }

    // MARK: - New pictures

    public static func black(width: Int, height: Int, bands: Int = 1) throws -> Image {
        try call(
            "black",
            ["width": .number(Double(width)), "height": .number(Double(height)), "bands": .number(Double(bands))])
    }

    /// A picture whose two bands contain the x and y coordinates of each pixel.
    public static func xyz(width: Int, height: Int) throws -> Image {
        try call("xyz", ["width": .number(Double(width)), "height": .number(Double(height))])
    }

    public static func gaussnoise(
        width: Int, height: Int, mean: Double = 128, sigma: Double = 30, seed: Int = 0
    ) throws -> Image {
        try call(
            "gaussnoise",
            [
                "width": .number(Double(width)), "height": .number(Double(height)), "mean": .number(mean),
                "sigma": .number(sigma), "seed": .number(Double(seed)),
            ])
    }

    /// Draws `text` as a mask of one band. A font size of one point corresponds to one pixel. Callers can't choose the
    /// resolution, because Pango may crash when the resolution changes.
    public static func text(_ text: String, font: String = "sans", width: Int) throws -> Image {
        try call("text", ["text": .text(text), "font": .text(font), "width": .number(Double(width))])
    }
}
