import DaemonRuntime
import Dispatch
import Glibc
package import JobModel
package import PictureFiles
package import PipelineModel
import ServiceProgram
package import SystemCalls
import WorkerPools
package import WorkerProtocol

/// A loaded configuration, and the stage catalog against which it was checked.
package struct LoadedConfiguration: Sendable {
    package var configuration: Configuration
    package var catalog: StageCatalog
    /// The bytes of the files that chains may name, by SHA-256.
    package var files: [String: Descriptor] = [:]
    package var skipped: [SkippedPlugin]
    /// The parts of the workers' confinement that this machine lacks, each with the reason.
    package var missing: [String]
    /// The administrator's settings files, without `saved.conf`.
    var texts: [ConfigurationText] = []
    /// Mistakes in the settings files. If there are any, the last correct settings are in force instead.
    var wrongSettings: [Problem] = []
    /// The inboxes of the recipes in the last correct configuration. A held recipe keeps its inbox.
    var lastInboxes: [String: String] = [:]
    /// Outboxes of held recipes that lie in another recipe's inbox. The daemon takes no pictures from these folders.
    package var misplacedOutboxes: Set<String> = []

    /// Reads the files and returns every problem. If there are problems, the caller must not use the configuration.
    package static func load(_ places: Places, hello: Hello) -> (LoadedConfiguration, [Problem]) {
        let (loaded, problems) = make(of: ConfigurationFiles(places), places, hello)
        return (loaded, problems + loaded.unreadableLogins)
    }

    /// Reads the settings only, and ignores wrong values. For use before the first worker has reported the filters.
    package static func settings(_ places: Places) -> Settings {
        Configuration.load(settings: ConfigurationFiles(places).allSettings, recipes: [], catalog: .builtIn)
            .configuration.settings
    }

    /// Makes a configuration from the files, and holds recipes with problems. If `starting` is true, ignores problems
    /// that can be fixed while the recipe's jobs wait.
    package static func make(
        of files: ConfigurationFiles, _ places: Places, _ hello: Hello, starting: Bool = false,
        after last: LastGood? = nil
    ) -> (LoadedConfiguration, [Problem]) {
        let lastInboxes = last?.inboxes ?? [:]
        let leftOut = hello.leftOut
        let settings = Configuration.load(settings: files.allSettings, recipes: [], catalog: .builtIn)
            .configuration.settings
        let read = FilterFileReader(places.recipes, for: hello.filters, most: settings.plugins.mostFiles)
        let catalog = StageCatalog(
            filters: hello.filters, missingEncoders: hello.missingEncoders, leftOut: leftOut, files: read.files)
        let (configuration, found) = Configuration.load(
            settings: files.allSettings, recipes: files.recipes, unread: files.unreadRecipes, lastInboxes: lastInboxes,
            catalog: starting
                ? StageCatalog(filters: hello.filters, leftOut: leftOut, files: read.files) : catalog)
        var loaded = LoadedConfiguration(
            configuration: configuration, catalog: catalog, files: read.bytes, skipped: hello.skipped,
            missing: hello.missing,
            texts: files.settings, lastInboxes: lastInboxes)
        let misplaced = loaded.misplaced(places, starting: starting)
        loaded.hold(misplaced)
        return (loaded, files.problems + found + misplaced.map(\.problem) + loaded.unconfined(places.mainConfiguration))
    }

    /// Logs the configuration's mistakes. Also logs the missing parts of the workers' confinement, unless the same
    /// parts were missing in `before`.
    package func logShortcomings(after before: LoadedConfiguration? = nil) {
        for shortcoming in shortcomings { Log.failure(shortcoming) }
        // The passwords are checked on a separate thread, because the disk of a password file may hang.
        FileLane(threads: 1).async { for problem in unreadableLogins { Log.failure("\(problem)") } }
        if !missing.isEmpty, missing != before?.missing {
            Log.failure(
                "workers are confined in part: there is no \(lack)",
                advice: "Sandbox=required in [Daemon] would refuse to work like this")
        }
    }

    /// Hooks that can't be run now. Hooks on a hanging disk are left out.
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

    /// Reports a problem if Sandbox=required is set, but the workers' confinement is incomplete.
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

    /// The missing parts of the workers' confinement, on one line.
    package var lack: String { missing.joined(separator: ", ") }

    // MARK: - Folders

    package func inbox(of recipe: Recipe, _ places: Places) -> String { FileSystem.join(places.inbox, recipe.inbox) }
    package func outbox(of recipe: Recipe, _ places: Places) -> String { FileSystem.join(places.outbox, recipe.outbox) }
    /// The folder for the results of `pipectl add --chain`.
    package func adHocOutbox(_ places: Places) -> String { FileSystem.join(places.outbox, Self.adHocName) }

    /// The name that jobs from `pipectl add --chain` have instead of a recipe's name.
    static let adHocName = "chain"

    package func recipe(_ name: String) -> Recipe? { configuration.recipe(name) }
    /// Why there is no recipe of this name, or why it is held.
    package func lack(of name: String) -> String {
        configuration.held(name)?.reason ?? "there is no recipe '\(name)' any more"
    }

    /// Why the recipe that a user has named can't be used.
    package func reason(against name: String) -> String {
        if let held = configuration.held(name) { return held.reason }
        let near = nearest(name, among: configuration.recipes.map(\.name))
        return "there is no recipe '\(name.prefix(50))'; "
            + (near.map { "did you mean '\($0)'?" } ?? "`pipectl recipes` lists them")
    }

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
