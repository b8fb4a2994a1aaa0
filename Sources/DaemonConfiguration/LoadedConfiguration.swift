import DaemonRuntime
import Dispatch
import Glibc
package import JobLedger
package import PictureFiles
package import PipelineModel
import SystemCalls
import WorkerPools
package import WorkerProtocol

/// The configuration in force, and the filters it was checked against.
package struct LoadedConfiguration: Sendable {
    package var configuration: Configuration
    package var catalog: StageCatalog
    package var skipped: [SkippedPlugin]
    /// The missing parts of the workers' confinement, and why.
    package var missing: [String]
    /// The files that the settings were read from, without `saved.conf`.
    var texts: [ConfigurationText] = []
    /// Mistakes in the settings' files. The settings in force are the last that were right.
    var wrongSettings: [Problem] = []
    /// The inboxes that recipes had when the configuration was right last: a held recipe keeps its own.
    var lastInboxes: [String: String] = [:]
    /// Outboxes of held recipes that lie in another's inbox. Nothing is taken from them.
    package var misplacedOutboxes: Set<String> = []

    /// Reads the files and reports every problem. With any, the configuration is not to be used.
    package static func load(_ places: Places, hello: Hello) -> (LoadedConfiguration, [Problem]) {
        let (loaded, problems) = make(of: ConfigurationFiles(places), places, hello)
        return (loaded, problems + loaded.unreadableLogins)
    }

    /// The settings alone, without those that are wrong: for what is to be known before it is known which filters there
    /// are.
    package static func settings(_ places: Places) -> Settings {
        Configuration.load(settings: ConfigurationFiles(places).allSettings, recipes: [], catalog: .builtIn)
            .configuration.settings
    }

    /// Recipes with problems are held. `starting` leaves out problems that can be mended while the recipe waits.
    package static func make(
        of files: ConfigurationFiles, _ places: Places, _ hello: Hello, starting: Bool = false,
        after last: LastGood? = nil
    ) -> (LoadedConfiguration, [Problem]) {
        let lastInboxes = last?.inboxes ?? [:]
        let leftOut = hello.leftOut
        let catalog = StageCatalog(
            filters: hello.filters, missingEncoders: hello.missingEncoders, leftOut: leftOut)
        let (configuration, found) = Configuration.load(
            settings: files.allSettings, recipes: files.recipes, unread: files.unreadRecipes, lastInboxes: lastInboxes,
            catalog: starting ? StageCatalog(filters: hello.filters, leftOut: leftOut) : catalog)
        var loaded = LoadedConfiguration(
            configuration: configuration, catalog: catalog, skipped: hello.skipped, missing: hello.missing,
            texts: files.settings, lastInboxes: lastInboxes)
        let misplaced = loaded.misplaced(places, starting: starting)
        loaded.hold(misplaced)
        return (loaded, files.problems + found + misplaced.map(\.problem) + loaded.unconfined(places.mainConfiguration))
    }

    /// Logs what the configuration can do without, and the confinement that is missing unless it was before.
    package func logShortcomings(after before: LoadedConfiguration? = nil) {
        for shortcoming in shortcomings { Log.failure(shortcoming) }
        // The disk with a password may not answer.
        FileLane(threads: 1).async { for problem in unreadableLogins { Log.failure("\(problem)") } }
        if !missing.isEmpty, missing != before?.missing {
            Log.failure(
                "workers are confined in part: there is no \(lack)",
                advice: "Sandbox=required in [Daemon] would refuse to work like this")
        }
    }

    /// Hooks that can't be run now. Hooks on a disk that does not answer are left out.
    package var refusedHooks: [Problem] {
        let refusals = DiskAnswers.ask(about: Set(configuration.recipes.compactMap(\.hook))) {
            HookProgram.refusal(of: $0)
        }
        return configuration.recipes.compactMap { recipe in
            guard let hook = recipe.hook, let refusal = refusals[hook] ?? nil else { return nil }
            return Problem(
                file: recipe.place, line: nil, message: "the hook of '\(recipe.name)', \(hook), is not run: \(refusal)")
        }
    }

    /// Logins whose password can't be read now.
    private var unreadableLogins: [Problem] {
        configuration.settings.hosts.sorted { $0.key < $1.key }.compactMap { host, login in
            login.unreadable(for: host).map {
                Problem(file: configuration.settings.source(ofLogin: host), line: nil, message: $0)
            }
        }
    }

    /// Workers that are less confined than is asked for.
    func unconfined(_ main: String) -> [Problem] {
        guard configuration.settings.sandbox == .required, !missing.isEmpty else { return [] }
        let source = configuration.settings.rows.first { $0.key == "Sandbox" }?.source
        return [
            Problem(
                file: source ?? main, line: nil,
                message: "Sandbox=required, but workers can't be confined here: \(lack); run a kernel that can, "
                    + "or write Sandbox=best in [Daemon] to do without")
        ]
    }

    /// The missing parts of the workers' confinement, as one line.
    package var lack: String { missing.joined(separator: ", ") }

    // MARK: - Folders

    package func inbox(of recipe: Recipe, _ places: Places) -> String { FileSystem.join(places.inbox, recipe.inbox) }
    package func outbox(of recipe: Recipe, _ places: Places) -> String { FileSystem.join(places.outbox, recipe.outbox) }
    /// Where the results of `pipectl add --chain` go.
    package func adHocOutbox(_ places: Places) -> String { FileSystem.join(places.outbox, Self.adHocName) }

    /// The name that stands in place of a recipe's for `pipectl add --chain`.
    static let adHocName = "chain"

    /// Nil for a held recipe, too.
    package func recipe(_ name: String) -> Recipe? { configuration.recipes.first { $0.name == name } }
    package func held(_ name: String) -> HeldRecipe? { configuration.held.first { $0.recipe.name == name } }
    /// Why there is no such recipe.
    package func lack(of name: String) -> String { held(name)?.reason ?? "there is no recipe '\(name)' any more" }

    package func order(for recipe: Recipe, _ places: Places) -> WorkOrder {
        WorkOrder(
            recipe: recipe.name, adHoc: false, outputs: recipe.outputs, original: recipe.original,
            conflict: recipe.conflict, onTruncated: recipe.onTruncated, raw: recipe.raw, priority: recipe.priority,
            fleet: recipe.fleet, outbox: outbox(of: recipe, places), inbox: inbox(of: recipe, places))
    }

    package func order(for chain: Chain, _ places: Places) -> WorkOrder {
        WorkOrder(
            recipe: Self.adHocName, adHoc: true, outputs: [RecipeOutput(name: nil, chain: chain)], original: .archive,
            conflict: .number, outbox: adHocOutbox(places), inbox: places.inbox)
    }
}
