/// A picture that a job makes: a result, or an intermediate picture that a chain passes over a barrier.
public struct PlannedPicture: Sendable, Hashable {
    public let index: Int
    /// Index of the picture that it is made from; nil for the original.
    public let source: Int?
    /// The last stage is `save`.
    public let stages: [Stage]
    public let isResult: Bool
    /// Part of the result's file name.
    public let name: String?
    public let naming: NameTemplate?

    /// The format that the chain names; nil for `same`, which only a worker can resolve.
    public var format: String? {
        let format = stages.last?.arguments["format"]?.text ?? "jpeg"
        return format == "same" ? nil : format
    }

    /// The suffix of its file name, if the format is known.
    public var suffix: String? { format.map(RenderedOutput.suffix) }

    /// The execution steps: "resize, noir, encode jpeg".
    func steps(_ catalog: StageCatalog) -> String {
        let end = isResult ? "encode \(format ?? "as the original")" : "hand over"
        return (name.map { "\($0): " } ?? "") + (catalog.steps(stages.dropLast()) + [end]).joined(separator: ", ")
    }
}
