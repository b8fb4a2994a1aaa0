/// All that the configuration files say.
public struct Configuration: Sendable {
    public let settings: Settings
    /// Sorted by name; always with the default recipe. A recipe with problems is left out; the default one stays, with the outputs
    /// that are right.
    public let recipes: [Recipe]
    /// The recipe that `inbox/` itself belongs to.
    public let defaultRecipe: Recipe
    /// The place of Outbox= in its file, by recipe. Recipes without Outbox= are missing.
    public let outboxPlaces: [String: SettingPlace]

    /// Reads the settings' files in order, the later ones winning, and the recipes; says all that is wrong at once.
    public static func load(
        settings: [ConfigurationText], recipes: [ConfigurationText], catalog: StageCatalog
    ) -> (configuration: Configuration, problems: [Problem]) {
        var loader = ConfigurationLoader(catalog: catalog)
        for file in settings { loader.readSettings(file) }
        for file in recipes { loader.readRecipe(file) }
        return loader.finish()
    }
}
