/// The contents of all configuration files.
public struct Configuration: Sendable {
    public let settings: Settings
    /// All recipes, sorted by name. A recipe with problems is left out; the default recipe is always there, with its
    /// valid outputs.
    public let recipes: [Recipe]
    /// The recipe of `inbox/` itself.
    public let defaultRecipe: Recipe
    /// The place of Outbox= in its file, by recipe. Recipes without Outbox= are missing.
    public let outboxPlaces: [String: SettingPlace]

    /// Reads the settings' files in order, where later files win, and the recipes; reports all problems at once.
    public static func load(
        settings: [ConfigurationText], recipes: [ConfigurationText], catalog: StageCatalog
    ) -> (configuration: Configuration, problems: [Problem]) {
        var loader = ConfigurationLoader(catalog: catalog)
        for file in settings { loader.readSettings(file) }
        for file in recipes { loader.readRecipe(file) }
        return loader.finish()
    }
}
