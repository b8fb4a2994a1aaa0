public struct StageCatalog: Sendable {
    public static let builtIn = StageCatalog(filters: [])

    private let byName: [String: StageDescription]
    /// Formats that `save` can't write on this machine.
    public let missingEncoders: [MissingEncoder]
    /// Why a stage is missing, for the names of plugin files that were left out.
    public let leftOut: [String: String]

    /// The built-in stages and `filters`. If a name occurs twice, the first stage keeps it.
    public init(filters: [StageDescription], missingEncoders: [MissingEncoder] = [], leftOut: [String: String] = [:]) {
        (self.missingEncoders, self.leftOut) = (missingEncoders, leftOut)
        let all = BuiltInStage.all.map(\.description) + filters
        byName = Dictionary(all.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Sorted by name.
    public var stages: [StageDescription] {
        byName.values.sorted { $0.name < $1.name }
    }

    public subscript(name: String) -> StageDescription? {
        byName[name]
    }
}
