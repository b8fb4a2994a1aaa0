/// An output of a recipe: makes one result of each picture, and one more for each tee.
public struct RecipeOutput: Sendable, Hashable, Codable {
    /// Part of the result's file name; nil for the unnamed output.
    public var name: String?
    public var chain: Chain
    /// The naming rule for its results, tees included. If nil, the name consists of the inbox's folder, the picture's
    /// name and the output's name.
    public var naming: NameTemplate?

    public init(name: String?, chain: Chain, naming: NameTemplate? = nil) {
        (self.name, self.chain, self.naming) = (name, chain, naming)
    }

    static func isName(_ text: String) -> Bool {
        !text.isEmpty && text.allSatisfy { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" }
    }
}
