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
    /// Mistakes in the settings' files. If there are any, the last correct settings are in force.
    var wrongSettings: [Problem] = []
    /// The recipes' inboxes in the last correct configuration: a held recipe keeps its inbox.
    var lastInboxes: [String: String] = [:]
    /// Outboxes of held recipes that lie in another recipe's inbox. The daemon takes nothing from them.
    package var misplacedOutboxes: Set<String> = []

    /// Reads the files and reports every problem. If there are any, the configuration must not be used.
    package static func load(_ places: Places, hello: Hello) -> (LoadedConfiguration, [Problem]) {
        let (loaded, problems) = make(of: ConfigurationFiles(places), places, hello)
        return (loaded, problems + loaded.unreadableLogins)
    }

    /// The settings alone, without wrong values, for use before the filters are known.
    package static func settings(_ places: Places) -> Settings {
        Configuration.load(settings: ConfigurationFiles(places).allSettings, recipes: [], catalog: .builtIn)
            .configuration.settings
    }

    /// Holds recipes with problems. `starting` ignores problems that can be fixed while the recipe waits.
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

    /// Logs the shortcomings, and the missing confinement unless it was missing before.
    package func logShortcomings(after before: LoadedConfiguration? = nil) {
        for shortcoming in shortcomings { Log.failure(shortcoming) }
        // A lane of its own, because the disk of a password file may not answer.
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

    /// The problem of workers that are less confined than Sandbox=required asks for.
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

    /// Stands for a recipe's name in `pipectl add --chain`.
    static let adHocName = "chain"

    /// Nil for a held recipe as well.
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
