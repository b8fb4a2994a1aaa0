import DaemonRuntime
import Dispatch
import Glibc
import JobLedger
import PipelineModel
import SystemCalls
import WorkerProtocol

/// The configuration in force, and the filters it was checked against.
struct LoadedConfiguration: Sendable {
    var configuration: Configuration
    var catalog: StageCatalog
    var skipped: [SkippedPlugin]
    /// The missing parts of the workers' confinement, and why.
    var missing: [String]

    /// Reads the files and reports every problem. At a start it leaves out problems that can be mended while the recipe
    /// waits.
    static func load(
        _ places: Places, hello: Hello, starting: Bool = false
    ) -> (LoadedConfiguration, [Problem]) {
        var problems: [Problem] = []
        let catalog = StageCatalog(filters: hello.filters, missingEncoders: hello.missingEncoders)
        let main = places.mainConfiguration
        let settings = settingsFiles(places, &problems)
        let recipes = files(in: places.recipes, suffix: ".recipe", &problems)
        let (configuration, found) = Configuration.load(
            settings: settings, recipes: recipes.compactMap { read($0, &problems) },
            catalog: starting ? StageCatalog(filters: hello.filters) : catalog)
        let loaded = LoadedConfiguration(
            configuration: configuration, catalog: catalog, skipped: hello.skipped, missing: hello.missing)
        // At a start, a password that is missing fails the downloads that need it, which are tried again.
        let logins = starting ? [] : loaded.unreadableLogins
        return (
            loaded, problems + found + loaded.misplaced(places, starting: starting) + loaded.unconfined(main) + logins
        )
    }

    /// The settings alone, without those that are wrong: for what is to be known before it is known which filters there
    /// are.
    static func settings(_ places: Places) -> Settings {
        var problems: [Problem] = []
        return Configuration.load(settings: settingsFiles(places, &problems), recipes: [], catalog: .builtIn)
            .configuration.settings
    }

    private static func settingsFiles(_ places: Places, _ problems: inout [Problem]) -> [ConfigurationText] {
        let files =
            [places.mainConfiguration].filter(FileSystem.mayExist)
            + files(in: places.moreConfiguration, suffix: ".conf", &problems)
            + [places.saved].filter(FileSystem.mayExist)
        return files.compactMap { read($0, &problems) }
    }

    private static func files(in folder: String, suffix: String, _ problems: inout [Problem]) -> [String] {
        guard FileSystem.mayExist(folder) else { return [] }
        do {
            return try FileSystem.names(in: folder).compactMap(\.self)
                .filter { $0.hasSuffix(suffix) && !$0.hasPrefix(".") }.sorted().map { "\(folder)/\($0)" }
        } catch {
            problems.append(Problem(file: folder, line: nil, message: "can't be read: \(error.reason)"))
            return []
        }
    }

    private static func read(_ path: String, _ problems: inout [Problem]) -> ConfigurationText? {
        do {
            let way = try Trust.way(to: path)
            if let refusal = way.refusal {
                problems.append(Problem(file: path, line: nil, message: "is not read: \(refusal)"))
                return nil
            }
            let data = try FileSystem.read(try way.open(O_RDONLY), most: .max, called: path)
            guard let text = String(validating: data, as: UTF8.self) else {
                problems.append(Problem(file: path, line: nil, message: "is not UTF-8; save it as that"))
                return nil
            }
            return ConfigurationText(name: path, text: text)
        } catch {
            problems.append(Problem(file: path, line: nil, message: "can't be read: \(error.reason)"))
            return nil
        }
    }

    /// Says what the configuration can do without, and what of it is new since the one before.
    func logShortcomings(after before: LoadedConfiguration? = nil) {
        for plugin in skipped { Log.failure("plugin \(plugin.file) is left out: \(plugin.reason)") }
        // The disk with a hook, or with a password, may not answer.
        DispatchQueue(label: "pipelined.files").async {
            for hook in refusedHooks { Log.failure(hook) }
            for problem in unreadableLogins { Log.failure("\(problem)") }
        }
        if !missing.isEmpty, missing != before?.missing {
            Log.failure(
                "workers are confined in part: there is no \(lack)",
                advice: "Sandbox=required in [Daemon] would refuse to work like this")
        }
    }

    /// Hooks that are refused in their present state, each with the reason. It walks each hook's path.
    var refusedHooks: [String] {
        configuration.recipes.compactMap { recipe in
            guard let hook = recipe.hook, let refusal = Trust.refusal(of: hook) else { return nil }
            return "the hook of '\(recipe.name)', \(hook), is not run: \(refusal)"
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
    private func unconfined(_ main: String) -> [Problem] {
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
    var lack: String { missing.joined(separator: ", ") }

    // MARK: - Folders

    func inbox(of recipe: Recipe, _ places: Places) -> String { FileSystem.join(places.inbox, recipe.inbox) }
    func outbox(of recipe: Recipe, _ places: Places) -> String { FileSystem.join(places.outbox, recipe.outbox) }
    /// Where the results of `pipectl add --chain` go.
    func adHocOutbox(_ places: Places) -> String { FileSystem.join(places.outbox, Self.adHocName) }

    /// The name that stands in place of a recipe's for `pipectl add --chain`.
    static let adHocName = "chain"

    func recipe(_ name: String) -> Recipe? { configuration.recipes.first { $0.name == name } }

    func order(for recipe: Recipe, _ places: Places) -> WorkOrder {
        WorkOrder(
            recipe: recipe.name, adHoc: false, outputs: recipe.outputs, original: recipe.original,
            conflict: recipe.conflict, onTruncated: recipe.onTruncated, raw: recipe.raw, priority: recipe.priority,
            fleet: recipe.fleet, outbox: outbox(of: recipe, places), inbox: inbox(of: recipe, places))
    }

    func order(for chain: Chain, _ places: Places) -> WorkOrder {
        WorkOrder(
            recipe: Self.adHocName, adHoc: true, outputs: [RecipeOutput(name: nil, chain: chain)], original: .archive,
            conflict: .number, outbox: adHocOutbox(places), inbox: places.inbox)
    }
}
