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
    public let naming: NameTemplate?

    /// The format as its chain says it; nil for the original's, which only a worker knows.
    public var format: String? {
        let format = stages.last?.arguments["format"]?.text ?? "jpeg"
        return format == "same" ? nil : format
    }

    /// The suffix of its file's name, if its format is known.
    public var suffix: String? { format.map(RenderedOutput.suffix) }

    /// The names of its stages: "resize, noir, encode jpeg".
    func steps(_ catalog: StageCatalog) -> String {
        let end = isResult ? "encode \(format ?? "as the original")" : "hand over"
        return (name.map { "\($0): " } ?? "") + (catalog.steps(stages.dropLast()) + [end]).joined(separator: ", ")
    }
}
