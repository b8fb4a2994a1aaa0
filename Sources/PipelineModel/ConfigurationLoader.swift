/// Builds a `Configuration` from the texts of its files, and reports contradictions between the files.
struct ConfigurationLoader {
    private let catalog: StageCatalog
    private let lastInboxes: [String: String]
    private var settings = Settings()
    /// Position of the first [Host NAME] section of each host.
    private var hostPlaces: [(host: String, file: String, line: Int)] = []
    private var defaultRecipePlace = (file: "default", line: Int?.none)
    /// Position of the last setting that was read in a [Fleet] section.
    private var fleetPlace = (file: "default", line: Int?.none)
    private var files: [RecipeFile] = []
    private var problems: [Problem] = []
    /// Recipes to hold because of a problem that was reported for another file.
    private var held: [(name: String, problem: Problem)] = []

    init(catalog: StageCatalog, _ lastInboxes: [String: String]) {
        (self.catalog, self.lastInboxes) = (catalog, lastInboxes)
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

    /// Call only after all settings files are read, because recipes inherit their settings.
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

    /// Adds a recipe whose file can't be read. Only the recipe's name is known, so the recipe is held, and keeps its
    /// last known inbox.
    mutating func addUnread(_ problem: Problem) {
        let last = lastInboxes[RecipeFile.recipeName(problem.file)]
        files.append(RecipeFile(unread: problem, inbox: last, settings: settings))
        problems.append(problem)
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
        let places = files.map { ($0.recipe.name, $0.outboxPlace) }
        var configuration = Configuration(
            settings: settings, recipes: files.map(\.recipe).filter { $0.name != standard.name } + [standard],
            defaultRecipe: standard,
            outboxPlaces: Dictionary(places) { first, _ in first }.compactMapValues(\.self))
        for problem in problems { configuration.hold(because: problem) }
        for (name, problem) in held { configuration.hold(name, because: problem) }
        return (configuration, problems)
    }

    /// Returns the recipe named by `DefaultRecipe=`, or the built-in recipe. If the name is unknown, returns an empty
    /// held recipe of that name, so that no other recipe takes the pictures in `inbox/`.
    private mutating func defaultRecipe() -> Recipe {
        let name = settings.defaultRecipe
        if let file = files.first(where: { $0.recipe.name == name }) { return file.recipe }
        guard name == Recipe.builtInName else {
            let known = files.map(\.recipe.name) + [Recipe.builtInName]
            report(
                defaultRecipePlace.file, defaultRecipePlace.line,
                "DefaultRecipe=\(name) names no recipe; \(suggestion(for: name, among: known))")
            held += problems.suffix(1).map { (name, $0) }
            return Recipe(name: name, inbox: "", outbox: name, intake: settings.intake, outputs: [])
        }
        let (recipe, problem) = Recipe.builtIn(intake: settings.intake, catalog: catalog)
        if let problem { problems.append(problem) }
        return recipe
    }

    /// Finds recipes that share an inbox. The recipe that had the inbox at the last load without problems keeps it, and
    /// the other recipe is held. If both recipes had the inbox, or neither recipe did, both are held, because either
    /// may contain the mistake.
    private mutating func findSharedInboxes() {
        var owners: [String: RecipeFile] = [:]
        let isBuiltIn = !files.contains { $0.recipe.name == settings.defaultRecipe }
        for file in files where file.isRead {
            let inbox = file.recipe.inbox
            if inbox.isEmpty, isBuiltIn {
                reportShared(inbox, by: file, with: settings.defaultRecipe)
            } else if let owner = owners[inbox] {
                let (hadIt, ownerHadIt) = (had(inbox, file), had(inbox, owner))
                let (wrong, right) = hadIt && !ownerHadIt ? (owner, file) : (file, owner)
                reportShared(inbox, by: wrong, with: right.recipe.name)
                owners[inbox] = right
                if hadIt == ownerHadIt { held += problems.suffix(1).map { (right.recipe.name, $0) } }
            } else {
                owners[inbox] = file
            }
        }
    }

    private func had(_ inbox: String, _ file: RecipeFile) -> Bool { lastInboxes[file.recipe.name] == inbox }

    private mutating func reportShared(_ inbox: String, by file: RecipeFile, with owner: String) {
        let folder = inbox.hasPrefix("/") ? inbox : "inbox/\(inbox)"
        report(
            file.recipe.place, file.inboxLine,
            "the inbox \(folder) belongs to recipe '\(owner)' already; give one of them another Inbox=")
    }

    private mutating func report(_ file: String, _ line: Int?, _ message: String) {
        problems.append(Problem(file: file, line: line, message: message))
    }
}
