/// An output of a recipe. It makes one result of each picture, and another result for each `tee` in its chain.
public struct RecipeOutput: Sendable, Hashable, Codable {
    /// The output's name, which becomes part of its results' file names; nil for the unnamed output.
    public var name: String?
    public var chain: Chain
    /// The naming rule for the results of this output and its tees. If nil, a result's name consists of the inbox's
    /// subfolder, the picture's name and the output's name.
    public var naming: NameTemplate?
    /// The condition that a picture must meet for the output to make results of it; nil for no condition.
    public var condition: Condition?

    public init(name: String?, chain: Chain, naming: NameTemplate? = nil, condition: Condition? = nil) {
        (self.name, self.chain, self.naming, self.condition) = (name, chain, naming, condition)
    }

    static func isName(_ text: String) -> Bool {
        !text.isEmpty && text.allSatisfy { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" }
    }
}
