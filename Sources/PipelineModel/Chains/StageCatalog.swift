public struct StageCatalog: Sendable {
    public static let builtIn = StageCatalog(filters: [])

    private let byName: [String: StageDescription]
    /// Formats that `save` can't write on this machine.
    public let missingEncoders: [MissingEncoder]
    /// Why plugins were left out, by filter name. The reason is shown when a chain uses such a filter.
    public let leftOut: [String: String]

    /// Combines the built-in stages with `filters`. If several stages have the same name, the catalog keeps the first.
    public init(filters: [StageDescription], missingEncoders: [MissingEncoder] = [], leftOut: [String: String] = [:]) {
        (self.missingEncoders, self.leftOut) = (missingEncoders, leftOut)
        let all = BuiltInStage.all.map(\.description) + filters
        byName = Dictionary(all.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// All stages, sorted by name.
    public var stages: [StageDescription] {
        byName.values.sorted { $0.name < $1.name }
    }

    public subscript(name: String) -> StageDescription? {
        byName[name]
    }
}
