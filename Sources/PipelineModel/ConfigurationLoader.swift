/// Puts a configuration together from its files, and finds contradictions between them.
struct ConfigurationLoader {
    private let catalog: StageCatalog
    private var settings = Settings()
    /// Where the section of each host begins first.
    private var hostPlaces: [(host: String, file: String, line: Int)] = []
    private var defaultRecipePlace = (file: "default", line: Int?.none)
    /// The last place that has a setting of the fleet.
    private var fleetPlace = (file: "default", line: Int?.none)
    private var files: [RecipeFile] = []
    private var problems: [Problem] = []

    init(catalog: StageCatalog) {
        self.catalog = catalog
    }

    mutating func readSettings(_ file: ConfigurationText) {
        let contents = SectionedText(file)
        problems += contents.problems
        let known = Settings.table.sections()
        for var section in contents.sections {
            if let host = HostLogin.host(ofSection: section.header) {
                guard beginHost(host, file.name, section.line) else { continue }
                section.header = "\(HostLogin.section) \(host)"
            } else if !known.contains(section.header) {
                let names = (known + ["\(HostLogin.section) NAME"]).map { "[\($0)]" }
                let advice = suggestion(for: "[\(section.header)]", among: names)
                report(file.name, section.line, "unknown section [\(section.header)]; \(advice)")
                continue
            }
            for assignment in section.assignments {
                do throws(Refusal) {
                    try settings.assign(
                        assignment.value.text, to: assignment.key, in: section.header, source: file.name)
                    if assignment.key == "DefaultRecipe" { defaultRecipePlace = (file.name, assignment.line) }
                    if section.header == "Fleet" { fleetPlace = (file.name, assignment.line) }
                } catch {
                    report(file.name, assignment.line, error.sentence)
                }
            }
        }
    }

    private mutating func beginHost(_ host: String, _ file: String, _ line: Int) -> Bool {
        do throws(Refusal) {
            _ = try SettingType.hosts.read(host, [])
        } catch {
            report(file, line, "'\(host)' \(error.sentence)")
            return false
        }
        guard settings.hosts[host] == nil else { return true }
        settings.hosts[host] = HostLogin()
        hostPlaces.append((host, file, line))
        return true
    }

    /// Comes after all settings: a recipe inherits from them.
    mutating func readRecipe(_ file: ConfigurationText) {
        let name = RecipeFile.recipeName(file.name)
        guard !name.isEmpty, !name.hasPrefix(".") else {
            let advice = "give the file a name before \(RecipeFile.suffix) that does not begin with a dot"
            return report(file.name, nil, "'\(name)' can't be the name of a recipe; \(advice)")
        }
        let read = RecipeFile(file, settings: settings, catalog: catalog)
        problems += read.problems
        if let first = files.first(where: { $0.recipe.name == name }) {
            report(
                file.name, nil, "recipe '\(name)' is in \(first.recipe.file ?? name) already; rename one of the files")
        } else {
            files.append(read)
        }
    }

    mutating func finish() -> (Configuration, [Problem]) {
        for place in hostPlaces {
            guard let contradiction = settings.hosts[place.host]?.contradiction else { continue }
            report(place.file, place.line, "[Host \(place.host)] \(contradiction)")
        }
        if let contradiction = settings.fleet.contradiction {
            report(fleetPlace.file, fleetPlace.line, "[Fleet] \(contradiction)")
        }
        let standard = defaultRecipe()
        findSharedInboxes()
        let broken = Set(problems.map(\.file))
        var recipes = files.map(\.recipe).filter { $0.name != standard.name && !broken.contains($0.file ?? "") }
        recipes.append(standard)
        recipes.sort { $0.name < $1.name }
        let places = files.map { ($0.recipe.name, $0.outboxPlace) }
        let configuration = Configuration(
            settings: settings, recipes: recipes, defaultRecipe: standard,
            outboxPlaces: Dictionary(places) { first, _ in first }.compactMapValues(\.self))
        return (configuration, problems)
    }

    /// The recipe that `DefaultRecipe=` names, or else the built-in one.
    private mutating func defaultRecipe() -> Recipe {
        if let file = files.first(where: { $0.recipe.name == settings.defaultRecipe }) { return file.recipe }
        if settings.defaultRecipe != Recipe.builtInName {
            let known = files.map(\.recipe.name) + [Recipe.builtInName]
            let advice = suggestion(for: settings.defaultRecipe, among: known)
            report(
                defaultRecipePlace.file, defaultRecipePlace.line,
                "DefaultRecipe=\(settings.defaultRecipe) names no recipe; \(advice)")
            settings.defaultRecipe = Recipe.builtInName
            if let file = files.first(where: { $0.recipe.name == Recipe.builtInName }) { return file.recipe }
        }
        let (recipe, problem) = Recipe.builtIn(intake: settings.intake, catalog: catalog)
        if let problem { problems.append(problem) }
        return recipe
    }

    private mutating func findSharedInboxes() {
        var owners: [String: String] = [:]
        if !files.contains(where: { $0.recipe.name == settings.defaultRecipe }) { owners[""] = settings.defaultRecipe }
        for file in files {
            let recipe = file.recipe
            let owner = owners[recipe.inbox, default: recipe.name]
            owners[recipe.inbox] = owner
            guard owner != recipe.name else { continue }
            let folder = recipe.inbox.hasPrefix("/") ? recipe.inbox : "inbox/\(recipe.inbox)"
            report(
                recipe.file ?? recipe.name, file.inboxLine,
                "the inbox \(folder) belongs to recipe '\(owner)' already; give one of them another Inbox=")
        }
    }

    private mutating func report(_ file: String, _ line: Int?, _ message: String) {
        problems.append(Problem(file: file, line: line, message: message))
    }
}
