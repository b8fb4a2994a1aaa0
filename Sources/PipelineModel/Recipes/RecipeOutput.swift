/// An output of a recipe, which makes one result of each picture.
public struct RecipeOutput: Sendable, Hashable, Codable {
    /// Part of the result's file name; nil for the unnamed output.
    public var name: String?
    public var chain: Chain

    public init(name: String?, chain: Chain) {
        (self.name, self.chain) = (name, chain)
    }

    static func isName(_ text: String) -> Bool {
        !text.isEmpty && text.allSatisfy { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" }
    }
}
