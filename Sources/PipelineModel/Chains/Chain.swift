/// An output's stages, checked against the catalog: all arguments are in range, defaults are filled in, and `save`
/// comes last.
public struct Chain: Sendable, Hashable, Codable, CustomStringConvertible {
    public let text: String
    public let stages: [Stage]

    /// Maximum number of results. A worker keeps a file open for each result.
    public static let mostResults = 32

    public init(
        parsing text: String, catalog: StageCatalog, mostStages: Int = Settings().maxStages
    ) throws(ChainProblem) {
        var elements = try ChainScanner.elements(of: text)
        if elements.count > mostStages {
            throw ChainProblem(
                "the chain has \(elements.count) stages, and MaxStages= in [Daemon] allows \(mostStages):"
                    + " '\(elements[mostStages].name)' is one too many",
                column: elements[mostStages].column, advice: "make two chains of it, or raise MaxStages")
        }
        let saves = elements.indices.filter { elements[$0].name == BuiltInStage.save.description.name }
        if saves.count > 1 {
            throw ChainProblem(
                "'save' for the second time", column: elements[saves[1]].column, advice: "keep one, the last")
        }
        if let save = saves.first, save != elements.count - 1 {
            throw ChainProblem(
                "'save' before other stages", column: elements[save].column, advice: "put it at the end of the chain")
        }
        if saves.isEmpty {
            elements.append(ChainElement(name: BuiltInStage.save.description.name, column: text.count + 1))
        }
        var stages: [Stage] = []
        for element in elements {
            let stage = try catalog.stage(element)
            if let name = stage.teeName, stages.contains(where: { $0.teeName == name }) {
                throw ChainProblem(
                    "tee '\(name)' for the second time", column: element.column, advice: "give each a name of its own")
            }
            if stage.teeName != nil, stages.count(where: { $0.teeName != nil }) + 1 == Self.mostResults {
                throw ChainProblem(
                    "more than \(Self.mostResults) results, including the one from save", column: element.column,
                    advice: "leave out a tee, or make two chains of it")
            }
            stages.append(stage)
        }
        self.stages = stages
        self.text = text.trimmed
    }

    /// The names of the additional results that the chain's `tee` stages make.
    public var tees: [String] { stages.compactMap(\.teeName) }

    public var description: String { text }
}
