import DaemonConfiguration
package import DaemonInterface
import InboxWatching
import PictureFiles
package import PipelineModel

extension Owners {
    package nonisolated var ownFolders: DaemonFolders {
        let places = configuration.places
        return (places.data, places.state, places.recipes, Staging.folderName)
    }

    package func settingRows() -> [SettingRow] {
        configuration.settings.rows.map { row in
            guard row.section == "Queues", let live = limits.live(of: row.key.lowercased()) else { return row }
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
