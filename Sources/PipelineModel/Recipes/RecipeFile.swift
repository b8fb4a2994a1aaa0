/// A `.recipe` file: the recipe, as far as the file is valid, and the file's problems.
struct RecipeFile {
    static let suffix = ".recipe"

    let recipe: Recipe
    let problems: [Problem]
    /// False if the file could not be read. In that case, only the recipe's name is known.
    let isRead: Bool
    let inboxLine: Int?
    let outboxPlace: SettingPlace?

    init(_ file: ConfigurationText, settings: Settings, catalog: StageCatalog) {
        let name = Self.recipeName(file.name)
        var reader = RecipeReader(file, recipe: name, settings: settings, catalog: catalog)
        reader.read()
        let draft = reader.draft
        recipe = Recipe(
            name: name, description: draft.description, file: file.name,
            inbox: draft.inbox ?? Self.usualInbox(of: name, settings), outbox: draft.outbox ?? name,
            match: draft.match ?? Recipe.pictures, original: draft.original, conflict: draft.conflict,
            onTruncated: draft.onTruncated, raw: draft.raw, priority: draft.priority, share: draft.share,
            hours: draft.hours,
            fleet: draft.fleet,
            hook: draft.hook, hookOn: draft.hookOn, intake: draft.intake, outputs: reader.outputs)
        problems = reader.problems
        isRead = true
        inboxLine = reader.inboxLine
        outboxPlace = reader.outboxPlace
    }

    /// Creates a placeholder for a recipe file that can't be read, for the reason in `problem`.
    init(unread problem: Problem, inbox: String?, settings: Settings) {
        let name = Self.recipeName(problem.file)
        recipe = Recipe(
            name: name, file: problem.file, inbox: inbox ?? Self.usualInbox(of: name, settings), outbox: name,
            intake: settings.intake, outputs: [])
        (problems, isRead, inboxLine, outboxPlace) = ([problem], false, nil, nil)
    }

    /// The inbox of a recipe that has no `Inbox=` setting.
    private static func usualInbox(of name: String, _ settings: Settings) -> String {
        name == settings.defaultRecipe ? "" : name
    }

    /// The file's base name without `.recipe`.
    static func recipeName(_ path: String) -> String {
        let base = path.split(separator: "/").last ?? ""
        return String(base.hasSuffix(suffix) ? base.dropLast(suffix.count) : base)
    }
}
