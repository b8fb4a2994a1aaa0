import CPipelinePlugin

/// A filter of pipelined, in Swift.
///
///     import PluginKit
///
///     struct Warm: Filter {
///         static let summary = "as if the sun were low"
///         @Parameter("how much warmer", range: 0...1) var amount = 0.3
///
///         func apply(to image: Image) throws -> Image {
///             try image.keepingAlpha { try $0.linear([1 + amount, 1, 1 - amount], [0, 0, 0]) }
///         }
///     }
///
///     @c(pipeline_filter) public func pipelineFilter() -> ExportedFilter { export(Warm.self) }
///
/// For each picture, the host creates a new instance of the filter with the arguments from the chain. `apply` adds
/// operations to a lazy picture and returns; the pixels are computed later. `pipeline_plugin.h` defines what a picture
/// contains, and what a filter may do.
public protocol Filter: Sendable, SendableMetatype {
    init()

    /// The stage's name in a chain. The default is the type's own name: `TiltShift` becomes `tilt-shift`.
    static var name: String { get }
    static var version: String { get }
    /// One line that says what the filter does to a picture.
    static var summary: String { get }
    static var author: String? { get }
    static var traits: Traits { get }
    /// Names of parameters, as written in a chain. The host refuses a chain that gives none of these parameters. A
    /// parameter counts as given if its value differs from the default.
    static var atLeastOneOf: [String] { get }
    /// Names of parameters, as written in a chain. The host refuses a chain that gives more than one of these
    /// parameters.
    static var atMostOneOf: [String] { get }
    /// Names of parameters, as written in a chain. In a chain that gives one of these parameters, the traits
    /// `lumaOnly`, `curve` and `keepsGainMap` don't hold: the filter then gets all colours.
    static var needsColours: [String] { get }

    func apply(to image: Image) throws -> Image
    /// Returns where a filter with the trait `movesPixels` puts the pixels of a picture of this size. Returns nil if
    /// the arrangement depends on the pixels; the host then calls `apply`. In `apply`, `image.arranged(…)` makes the
    /// picture for an arrangement.
    func arrangement(width: Int, height: Int) throws -> Arrangement?
}

extension Filter {
    public static var name: String { String(describing: Self.self).inChains }
    public static var version: String { "1.0.0" }
    public static var author: String? { nil }
    public static var traits: Traits { [] }
    public static var atLeastOneOf: [String] { [] }
    public static var atMostOneOf: [String] { [] }
    public static var needsColours: [String] { [] }
    public func arrangement(width: Int, height: Int) throws -> Arrangement? { nil }
}

/// A filter's promises, which let the host render the same result faster, and its requests to the host. `PipelineTrait`
/// documents each trait.
public struct Traits: OptionSet, Sendable {
    public let rawValue: UInt32

    public init(rawValue: UInt32) { self.rawValue = rawValue }
    private init(_ trait: PipelineTrait) { rawValue = trait.rawValue }

    /// The result depends on luma alone. The filter receives luma as a picture of one band.
    public static let lumaOnly = Traits(PIPELINE_LUMA_ONLY)
    /// Each pixel depends only on the same pixel of the input.
    public static let pointwise = Traits(PIPELINE_POINTWISE)
    public static let changesSize = Traits(PIPELINE_CHANGES_SIZE)
    /// Each band of the result depends only on the same band of the input, as with `Image.curve`.
    public static let curve = Traits(PIPELINE_CURVE)
    public static let drawsText = Traits(PIPELINE_DRAWS_TEXT)
    /// The filter reads its input more than once, or not from top to bottom. The host then keeps the input in memory.
    public static let wholePicture = Traits(PIPELINE_WHOLE_PICTURE)
    /// The filter only moves pixels, as `arrangement` describes. The host may move the samples of a JPEG or a WebP
    /// itself.
    public static let movesPixels = Traits(PIPELINE_MOVES_PIXELS)
    /// The gain map of an HDR picture still fits the result. This means that an HDR screen may brighten each pixel of
    /// the result by the same factor as the pixel at the same position of the input.
    public static let keepsGainMap = Traits(PIPELINE_KEEPS_GAIN_MAP)
    /// The filter asks for `Host.caption` or `Host.credit`.
    public static let readsTexts = Traits(PIPELINE_READS_TEXTS)
}

/// The reason why a filter failed, in one line for the person who dropped the picture.
public struct FilterError: Error, CustomStringConvertible, Sendable {
    public let description: String

    public init(_ description: String) { self.description = description }
}

extension String {
    /// Turns `tiltShift` and `TiltShift` into `tilt-shift`.
    var inChains: String {
        reduce(into: "") { name, letter in
            if letter.isUppercase, !name.isEmpty { name += "-" }
            name += letter.lowercased()
        }
    }
}
