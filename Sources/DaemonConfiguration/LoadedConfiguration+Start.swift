import InboxWatching
package import PictureFiles
package import PipelineModel
import SystemCalls
package import WorkerProtocol

/// Starts the daemon despite mistakes that were made since the configuration was last correct. After a crash, a reboot
/// or an upgrade, there may be nobody to correct the mistakes.
extension LoadedConfiguration {
    /// Reads the files for a start. Holds recipes that contain a mistake. If the settings contain a mistake, uses the
    /// last correct settings instead, because a default in place of a wrong value could remove, publish or download
    /// files against the user's will. Throws if no correct settings are known, or if Sandbox=required can't be met.
    package static func start(_ places: Places, hello: Hello) throws(StartError) -> LoadedConfiguration {
        var files = ConfigurationFiles(places)
        let last = LastGood.read(places)
        var (loaded, problems) = make(of: files, places, hello, starting: true, after: last)
        let wrong = loaded.configuration.common(problems)
        if !wrong.isEmpty {
            let refusal = StartError(
                status: .configuration, description: problems.map(\.description).joined(separator: "\n"))
            guard let last, loaded.unconfined(places.mainConfiguration).isEmpty else { throw refusal }
            files.replaceSettings(by: last.texts)
            (loaded, problems) = make(of: files, places, hello, starting: true, after: last)
            guard loaded.configuration.common(problems).isEmpty else { throw refusal }
            loaded.wrongSettings = wrong
        }
        LastGood(loaded).keep(places)
        return loaded
    }

    /// The configuration's mistakes. Each text also states the consequence.
    package var shortcomings: [String] {
        let settings = wrongSettings.first.map { first in
            let more = wrongSettings.count > 1 ? " (and \(wrongSettings.count - 1) more)" : ""
            return "the settings in force are the last that were right: \(first)\(more); mend it, then `pipectl reload`"
        }
        return [settings].compactMap(\.self) + configuration.held.map { "\($0.reason); its pictures wait" }
            + skipped.map(\.sentence)
    }

    // MARK: - Folders

    /// The outboxes of all recipes, including held recipes, because older jobs still publish there.
    package func outboxes(_ places: Places) -> [String] {
        (configuration.recipes + configuration.held.map(\.recipe)).map { outbox(of: $0, places) }
    }

    /// A folder that belongs to a recipe.
    package struct WatchedFolder {
        package var path: String
        package var recipe: Recipe
        /// Why the daemon takes no pictures from this folder; nil if it does.
        package var refusal: String?
    }

    /// The inboxes of all recipes. Inboxes of held recipes are included, so that no other recipe takes the pictures in
    /// them.
    package func watched(_ places: Places) -> [WatchedFolder] {
        var watched = configuration.recipes.map { WatchedFolder(path: inbox(of: $0, places), recipe: $0) }
        for held in configuration.held {
            let last = lastInboxes[held.recipe.name].map { FileSystem.join(places.inbox, $0) }
            for folder in [inbox(of: held.recipe, places), last].compactMap(\.self)
            where !watched.contains(where: { $0.path == folder }) {
                watched.append(WatchedFolder(path: folder, recipe: held.recipe, refusal: held.reason))
            }
        }
        return watched
    }
}
