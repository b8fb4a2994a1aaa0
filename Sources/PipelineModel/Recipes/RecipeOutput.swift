/// An output of a recipe, which makes one result of each picture.
public struct RecipeOutput: Sendable, Hashable, Codable {
    /// Part of the result's file name; nil for the unnamed output.
    public var name: String?
    public var chain: Chain
    /// How its results are called, those of its tees too. Nil for the inbox's folder, the picture's name and the
    /// output's.
    public var naming: NameTemplate?

    public init(name: String?, chain: Chain, naming: NameTemplate? = nil) {
        (self.name, self.chain, self.naming) = (name, chain, naming)
    }

    static func isName(_ text: String) -> Bool {
        !text.isEmpty && text.allSatisfy { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" }
    }
}
