import JobLedger
import PipelineModel
import Synchronization

/// The configuration in force, which a reload replaces. Any thread may read it.
final class ConfigurationInForce: Sendable {
    let places: Places
    private let loaded: Mutex<LoadedConfiguration>

    init(_ loaded: LoadedConfiguration, _ places: Places) {
        self.places = places
        self.loaded = Mutex(loaded)
    }

    var now: LoadedConfiguration { loaded.withLock { $0 } }
    var settings: Settings { loaded.withLock { $0.configuration.settings } }
    var recipes: [Recipe] { loaded.withLock { $0.configuration.recipes } }

    /// Returns the configuration that was in force before.
    func replace(by new: LoadedConfiguration) -> LoadedConfiguration {
        loaded.withLock { loaded in
            defer { loaded = new }
            return loaded
        }
    }

    func order(for recipe: Recipe) -> WorkOrder { now.order(for: recipe, places) }
    func inbox(of recipe: Recipe) -> String { now.inbox(of: recipe, places) }
    func outbox(of recipe: Recipe) -> String { now.outbox(of: recipe, places) }
    /// The inboxes and outboxes of all recipes, held ones as well.
    var folders: [String] { now.watched(places).map(\.path) + outboxes }
    var outboxes: [String] { now.outboxes(places) }
    var adHocOutbox: String { now.adHocOutbox(places) }
}
