/// The contents of all configuration files.
public struct Configuration: Sendable {
    public let settings: Settings
    /// Valid recipes, sorted by name.
    public private(set) var recipes: [Recipe]
    /// Recipes that can't be used because of a problem, sorted by name.
    public private(set) var held: [HeldRecipe] = []
    /// The recipe for pictures directly in `inbox/`. It may be one of the held recipes.
    public let defaultRecipe: Recipe
    /// Position of the Outbox= setting in each recipe's file, by recipe name. Recipes without Outbox= have no entry.
    public let outboxPlaces: [String: SettingPlace]

    init(settings: Settings, recipes: [Recipe], defaultRecipe: Recipe, outboxPlaces: [String: SettingPlace]) {
        (self.settings, self.defaultRecipe, self.outboxPlaces) = (settings, defaultRecipe, outboxPlaces)
        self.recipes = recipes.sorted { $0.name < $1.name }
    }

    /// The recipe with this name; nil if there is no such recipe, or if it is held.
    public func recipe(_ name: String) -> Recipe? { recipes.first { $0.name == name } }
    public func held(_ name: String) -> HeldRecipe? { held.first { $0.recipe.name == name } }

    /// Reads all settings files in order, so that later files override earlier files. After that, reads the recipes.
    /// Returns all problems at once. `unread` contains a problem for each unreadable recipe file. `lastInboxes`
    /// contains each recipe's inbox, by recipe name, as of the last load without problems.
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

    /// Adds the problem to the named recipe, and moves the recipe to the held recipes.
    public mutating func hold(_ name: String, because problem: Problem) {
        if let index = held.firstIndex(where: { $0.recipe.name == name }) {
            held[index].add(problem)
        } else if let index = recipes.firstIndex(where: { $0.name == name }) {
            held.append(HeldRecipe(recipes.remove(at: index), problem))
            held.sort { $0.recipe.name < $1.recipe.name }
        }
    }

    /// If the problem is in a recipe's file, holds that recipe.
    public mutating func hold(because problem: Problem) {
        let all = recipes + held.map(\.recipe)
        if let recipe = all.first(where: { $0.place == problem.file }) { hold(recipe.name, because: problem) }
    }

    /// The problems that don't hold a recipe, such as mistakes in the settings files.
    public func common(_ problems: [Problem]) -> [Problem] {
        let concerned = Set(held.flatMap(\.problems))
        return problems.filter { !concerned.contains($0) }
    }
}
