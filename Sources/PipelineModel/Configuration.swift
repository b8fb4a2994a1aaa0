/// The contents of all configuration files.
public struct Configuration: Sendable {
    public let settings: Settings
    /// Valid recipes, sorted by name.
    public private(set) var recipes: [Recipe]
    /// Recipes with problems, sorted by name.
    public private(set) var held: [HeldRecipe] = []
    /// The recipe of `inbox/` itself; it may be a held one.
    public let defaultRecipe: Recipe
    /// Position of Outbox= in the recipe file, by recipe. Recipes without Outbox= are missing.
    public let outboxPlaces: [String: SettingPlace]

    init(settings: Settings, recipes: [Recipe], defaultRecipe: Recipe, outboxPlaces: [String: SettingPlace]) {
        (self.settings, self.defaultRecipe, self.outboxPlaces) = (settings, defaultRecipe, outboxPlaces)
        self.recipes = recipes.sorted { $0.name < $1.name }
    }

    /// Reads the settings files in order, where later files win, then the recipes; reports all problems at once.
    /// `unread` has a problem for each unreadable recipe file; `lastInboxes` has the recipes' inboxes at the last load
    /// without problems.
    public static func load(
        settings: [ConfigurationText], recipes: [ConfigurationText], unread: [Problem] = [],
        lastInboxes: [String: String] = [:], catalog: StageCatalog
    ) -> (configuration: Configuration, problems: [Problem]) {
        var loader = ConfigurationLoader(catalog: catalog, lastInboxes)
        for file in settings { loader.readSettings(file) }
        for file in recipes { loader.readRecipe(file) }
        for problem in unread { loader.addUnread(problem) }
        return loader.finish()
    }

    /// Holds the named recipe because of the problem.
    public mutating func hold(_ name: String, because problem: Problem) {
        if let index = held.firstIndex(where: { $0.recipe.name == name }) {
            held[index].add(problem)
        } else if let index = recipes.firstIndex(where: { $0.name == name }) {
            held.append(HeldRecipe(recipes.remove(at: index), problem))
            held.sort { $0.recipe.name < $1.recipe.name }
        }
    }

    /// Holds the recipe whose file has the problem, if any.
    public mutating func hold(because problem: Problem) {
        let all = recipes + held.map(\.recipe)
        if let recipe = all.first(where: { $0.place == problem.file }) { hold(recipe.name, because: problem) }
    }

    /// Problems that hold no recipe, because they concern all of them.
    public func common(_ problems: [Problem]) -> [Problem] {
        let concerned = Set(held.flatMap(\.problems))
        return problems.filter { !concerned.contains($0) }
    }
}
