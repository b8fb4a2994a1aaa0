/// A picture that a job makes: a result, or the picture that a chain hands over a barrier.
public struct PlannedPicture: Sendable, Hashable {
    public let index: Int
    /// The picture it is made from; nil for the original.
    public let source: Int?
    /// The last of them is `save`.
    public let stages: [Stage]
    public let isResult: Bool
    /// A part of the result's file name.
    public let name: String?

    public var format: String { stages.last?.arguments["format"]?.text ?? "jpeg" }

    /// The suffix of its file's name: `jpg`, `png`, `webp`, `tif` or `avif`.
    public var suffix: String {
        switch format {
        case "jpeg": "jpg"
        case "tiff": "tif"
        default: format
        }
    }

    /// The names of its stages: "resize, noir, encode jpeg".
    func steps(_ catalog: StageCatalog) -> String {
        let end = isResult ? "encode \(format)" : "hand over"
        return (name.map { "\($0): " } ?? "") + (catalog.steps(stages.dropLast()) + [end]).joined(separator: ", ")
    }
}
