package import DaemonRuntime
package import JobModel
package import PipelineModel
package import WorkerProtocol

/// Reads the configuration in force, and reloads it.
@Coordination
package protocol ConfigurationReading {
    nonisolated var configurationInForce: Configuration { get }
    nonisolated var catalog: StageCatalog { get }
    /// Plugins that the daemon does not use, with the reasons.
    nonisolated var skippedPlugins: [SkippedPlugin] { get }
    nonisolated var ownFolders: DaemonFolders { get }
    nonisolated func order(for recipe: Recipe) -> WorkOrder
    nonisolated func order(for chain: Chain) -> WorkOrder
    /// All settings, with the limits that were set since the start.
    func settingRows() -> [SettingRow]
    /// All recipes, including held recipes, sorted by name.
    func recipeReports() -> [RecipeReport]
    /// Why jobs wait for this filter; nil if it is not missing.
    func shortage(ofFilter name: String) -> String?
    /// Reloads configuration and plugins, or only tries them.
    func reload(asTrial isTrial: Bool, _ done: @escaping Done<Reloaded>)
}

/// Folders that the answers to clients name. `staging` is the name of the daemon's own folder in each outbox.
package typealias DaemonFolders = (data: String, state: String, recipes: String, staging: String)

/// A recipe, with the reason if it takes no pictures.
package typealias RecipeReport = (recipe: Recipe, order: WorkOrder, problem: String?, hookFailures: Int)

package struct Reloaded: Sendable {
    /// Why the reload changed nothing; empty if it succeeded.
    package var problems: [Problem]
    /// Plugins that the reload left out.
    package var skipped: [SkippedPlugin]
    /// Hooks whose program can't be run.
    package var hooks: [Problem]

    package init(problems: [Problem] = [], skipped: [SkippedPlugin] = [], hooks: [Problem] = []) {
        (self.problems, self.skipped, self.hooks) = (problems, skipped, hooks)
    }
}
