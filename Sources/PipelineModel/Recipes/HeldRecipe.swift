/// A recipe that the daemon can't use because of a mistake. Its pictures wait until the mistake is corrected.
public struct HeldRecipe: Sendable, Hashable {
    /// The part of the recipe that could be read.
    public let recipe: Recipe
    public private(set) var problems: [Problem]
    /// The message for users: the first problem, the number of further problems, and advice.
    public private(set) var reason = ""

    init(_ recipe: Recipe, _ problem: Problem) {
        (self.recipe, problems) = (recipe, [])
        add(problem)
    }

    mutating func add(_ problem: Problem) {
        if !problems.contains(problem) { problems.append(problem) }
        let more = problems.count > 1 ? " (and \(problems.count - 1) more)" : ""
        reason = "the recipe '\(recipe.name)' can't be used: \(problems[0])\(more); mend it, then `pipectl reload`"
    }
}
