import DaemonConfiguration
package import DaemonInterface
import InboxWatching
import PictureFiles
package import PipelineModel

extension Owners {
    package nonisolated var ownFolders: DaemonFolders {
        let places = configuration.places
        return (places.data, places.state, places.recipes, places.ownRecipes, Staging.folderName)
    }

    package func save(_ recipe: OwnRecipe, _ done: @escaping OwnRecipes.Done) { ownRecipes.save(recipe, done) }

    package func remove(recipe: String, _ done: @escaping OwnRecipes.Done) { ownRecipes.remove(recipe, done) }

    package func settingRows() -> [SettingRow] {
        configuration.settings.rows.map { row in
            guard row.section == "Queues", let live = queues.live(of: row.key.lowercased()) else { return row }
            var row = row
            (row.value, row.source) = ("\(live.limit)", live.isSaved ? configuration.places.saved : "pipectl")
            return row
        }
    }

    package func recipeReports() -> [RecipeReport] {
        let current = configuration.now.configuration
        return (current.recipes + current.held.map(\.recipe)).sorted { $0.name < $1.name }.map { recipe in
            let problem = current.held(recipe.name)?.reason ?? inboxes.inbox(of: recipe.name)?.report.whyNothing
            return (recipe, order(for: recipe), problem, hooks.report(of: recipe.name).failures)
        }
    }
}
