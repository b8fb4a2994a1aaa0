extension Recipe {
    static let builtInName = "noir"

    /// The recipe that the daemon uses if there are no recipe files. If the catalog lacks a stage of this recipe, the
    /// recipe has no outputs, and `problem` explains why.
    static func builtIn(intake: InboxSettings, catalog: StageCatalog) -> (recipe: Recipe, problem: Problem?) {
        var outputs: [RecipeOutput] = []
        var mistake: ChainProblem?
        do throws(ChainProblem) {
            let chain = try Chain(
                parsing: "resize scale=0.5 | noir | save format=jpeg quality=85", catalog: catalog)
            outputs = [RecipeOutput(name: nil, chain: chain)]
        } catch {
            mistake = error
        }
        let recipe = Recipe(
            name: builtInName, description: "Half size, black and white", inbox: "", outbox: builtInName,
            intake: intake, outputs: outputs)
        return (recipe, mistake.map { Problem(file: recipe.place, line: nil, message: $0.message) })
    }
}
