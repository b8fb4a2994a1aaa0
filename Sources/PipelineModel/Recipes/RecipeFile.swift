/// A `.recipe` file, read as far as it makes sense.
struct RecipeFile {
    static let suffix = ".recipe"

    let recipe: Recipe
    let problems: [Problem]
    let inboxLine: Int?
    let outboxPlace: SettingPlace?

    init(_ file: ConfigurationText, settings: Settings, catalog: StageCatalog) {
        let name = Self.recipeName(file.name)
        var reader = RecipeReader(file, recipe: name, intake: settings.intake, catalog: catalog)
        reader.read()
        let draft = reader.draft
        recipe = Recipe(
            name: name, description: draft.description, file: file.name,
            inbox: draft.inbox ?? (name == settings.defaultRecipe ? "" : name), outbox: draft.outbox ?? name,
            match: draft.match ?? Recipe.pictures, original: draft.original, conflict: draft.conflict,
            onTruncated: draft.onTruncated, raw: draft.raw, priority: draft.priority, fleet: draft.fleet,
            hook: draft.hook, hookOn: draft.hookOn, intake: draft.intake, outputs: reader.outputs)
        problems = reader.problems
        inboxLine = reader.inboxLine
        outboxPlace = reader.outboxPlace
    }

    /// The file's base name without `.recipe`.
    static func recipeName(_ path: String) -> String {
        let base = path.split(separator: "/").last ?? ""
        return String(base.hasSuffix(suffix) ? base.dropLast(suffix.count) : base)
    }
}
