package import JobModel
package import PictureFiles
package import PipelineModel
import Synchronization

/// The configuration in force, which a reload replaces. Any thread may read it.
package final class ConfigurationInForce: Sendable {
    package let places: Places
    private let loaded: Mutex<LoadedConfiguration>

    package init(_ loaded: LoadedConfiguration, _ places: Places) {
        self.places = places
        self.loaded = Mutex(loaded)
    }

    package var now: LoadedConfiguration { loaded.withLock { $0 } }
    package var settings: Settings { loaded.withLock { $0.configuration.settings } }
    package var recipes: [Recipe] { loaded.withLock { $0.configuration.recipes } }

    /// Replaces the configuration, and returns the previous one.
    package func replace(by new: LoadedConfiguration) -> LoadedConfiguration {
        loaded.withLock { loaded in
            defer { loaded = new }
            return loaded
        }
    }

    package func order(for recipe: Recipe) -> WorkOrder { now.order(for: recipe, places) }
    package func inbox(of recipe: Recipe) -> String { now.inbox(of: recipe, places) }
    package func outbox(of recipe: Recipe) -> String { now.outbox(of: recipe, places) }
    /// The inboxes and outboxes of all recipes, including held recipes.
    package var folders: [String] { now.watched(places).map(\.path) + outboxes }
    package var outboxes: [String] { now.outboxes(places) }
    package var adHocOutbox: String { now.adHocOutbox(places) }
}
