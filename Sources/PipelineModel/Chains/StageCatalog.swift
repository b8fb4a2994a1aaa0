public struct StageCatalog: Sendable {
    public static let builtIn = StageCatalog(filters: [])

    private let byName: [String: StageDescription]
    /// Formats that `save` can't write on this machine.
    public let missingEncoders: [MissingEncoder]
    /// Why plugins were left out, by filter name. The reason is shown when a chain uses such a filter.
    public let leftOut: [String: String]
    public let files: FilterFiles

    /// Combines the built-in stages with `filters`. If several stages have the same name, the catalog keeps the first.
    public init(
        filters: [StageDescription], missingEncoders: [MissingEncoder] = [], leftOut: [String: String] = [:],
        files: FilterFiles = FilterFiles()
    ) {
        (self.missingEncoders, self.leftOut, self.files) = (missingEncoders, leftOut, files)
        let all = BuiltInStage.all.map(\.description) + filters
        byName = Dictionary(all.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// All stages, sorted by name.
    public var stages: [StageDescription] {
        byName.values.sorted { $0.name < $1.name }
    }

    /// The names of the files that a parameter may name, sorted.
    public func names(for parameter: ParameterDescription) -> [String] {
        files.digests.keys.filter { name in parameter.choices.contains(where: name.hasSuffix) }.sorted()
    }

    public subscript(name: String) -> StageDescription? {
        byName[name]
    }
}
