/// A picture that a job makes: a result, or an intermediate picture that is stored while the job waits at a barrier.
public struct PlannedPicture: Sendable, Hashable {
    public let index: Int
    /// Index of the planned picture from which this picture is made; nil if it is made from the original.
    public let source: Int?
    /// The stages before the barrier, which made the source from the original; empty if there is no source.
    public let earlier: [Stage]
    /// The stages that make this picture. The last stage is `save`.
    public let stages: [Stage]
    public let isResult: Bool
    /// The name of the output or tee, which is part of the result's file name; nil if it has none.
    public let name: String?
    public let naming: NameTemplate?
    /// The condition that an original must meet for this picture to be made; nil for no condition.
    public var condition: Condition?

    /// The file format that the chain names; nil for `format=same`, which only a worker can resolve.
    public var format: String? {
        let format = stages.last?.arguments["format"]?.text ?? "jpeg"
        return format == "same" ? nil : format
    }

    /// The suffix of the picture's file name, if the format is known.
    public var suffix: String? { format.map(RenderedOutput.suffix) }

    /// The execution steps, in words: "resize, noir, encode jpeg".
    func steps(_ catalog: StageCatalog) -> String {
        let end = isResult ? "encode \(format ?? "as the original")" : "hand over"
        return (name.map { "\($0): " } ?? "") + (catalog.steps(stages.dropLast()) + [end]).joined(separator: ", ")
    }
}
