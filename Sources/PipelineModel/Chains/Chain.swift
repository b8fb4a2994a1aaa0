/// An output's stages, checked against what there is: every argument within its range, every default filled in, `save` last.
public struct Chain: Sendable, Hashable, Codable, CustomStringConvertible {
    /// As it was written.
    public let text: String
    public let stages: [Stage]

    public init(parsing text: String, catalog: StageCatalog) throws(ChainProblem) {
        var elements = try ChainScanner.elements(of: text)
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
            stages.append(try catalog.stage(element))
        }
        self.stages = stages
        self.text = text.trimmed
    }

    /// The end of a result's file name: `jpg`, `png`, `webp`, `tif` or `avif`.
    public var suffix: String {
        switch format {
        case "jpeg": "jpg"
        case "tiff": "tif"
        default: format
        }
    }

    /// What `save` writes: `jpeg`, `png`, `webp`, `tiff` or `avif`.
    public var format: String {
        stages.last?.arguments["format"]?.text ?? "jpeg"
    }

    public var description: String { text }
}
