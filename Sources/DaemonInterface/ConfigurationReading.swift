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
    /// All settings. A queue's limit is the limit in force, which a client may have changed.
    func settingRows() -> [SettingRow]
    /// All recipes, including held recipes, sorted by name.
    func recipeReports() -> [RecipeReport]
    /// Why jobs wait for this filter; nil if they don't.
    func shortage(ofFilter name: String) -> String?
    /// Reloads the configuration and the plugins. If `isTrial` is true, only checks whether a reload would succeed.
    func reload(asTrial isTrial: Bool, _ done: @escaping Done<Reloaded>)
    /// Saves a client's new or changed recipe, and puts it into force. If the recipe has problems, nothing changes.
    func save(_ recipe: OwnRecipe, _ done: @escaping Done<Result<[Problem], CommandRefusal>>)
    /// Removes a recipe that a client has saved.
    func remove(recipe: String, _ done: @escaping Done<Result<[Problem], CommandRefusal>>)
}

/// Folders that are mentioned in replies to clients. `ownRecipes` contains the recipes that clients have saved;
/// `staging` is the name of the daemon's folder in each outbox.
package typealias DaemonFolders = (data: String, state: String, recipes: String, ownRecipes: String, staging: String)

/// A recipe; `problem` says why the recipe takes no pictures, and is nil if the recipe takes pictures.
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
