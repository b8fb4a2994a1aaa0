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
    func reload(asTrial isTrial: Bool, _ done: @escaping @Coordination @Sendable (Reloaded) -> Void)
}

/// Folders of the daemon that its answers to clients name.
package struct DaemonFolders: Sendable {
    package var data: String
    package var state: String
    package var recipes: String
    /// The name of the daemon's own folder in each outbox.
    package var staging: String

    package init(data: String, state: String, recipes: String, staging: String) {
        (self.data, self.state, self.recipes, self.staging) = (data, state, recipes, staging)
    }
}

package struct RecipeReport: Sendable {
    package var recipe: Recipe
    package var order: WorkOrder
    /// Why the recipe takes no pictures, if so.
    package var problem: String?
    package var hookFailures: Int

    package init(recipe: Recipe, order: WorkOrder, problem: String?, hookFailures: Int) {
        (self.recipe, self.order, self.problem, self.hookFailures) = (recipe, order, problem, hookFailures)
    }
}

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
