import InboxWatching
package import PictureFiles
package import PipelineModel
import SystemCalls
package import WorkerProtocol

/// A start goes on despite mistakes that were made since the configuration was last correct: nobody may be there to
/// correct them after a crash, a reboot or an upgrade.
extension LoadedConfiguration {
    /// Reads the files for a start. A recipe with a mistake is held. Settings with a mistake are replaced by the last
    /// correct settings: a default in place of a wrong value could remove, publish or download things unasked. Throws
    /// if there are no such settings, or if Sandbox=required can't be met.
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

    /// The mistakes in the configuration, each with the daemon's reaction.
    package var shortcomings: [String] {
        let settings = wrongSettings.first.map { first in
            let more = wrongSettings.count > 1 ? " (and \(wrongSettings.count - 1) more)" : ""
            return "the settings in force are the last that were right: \(first)\(more); mend it, then `pipectl reload`"
        }
        return [settings].compactMap(\.self) + configuration.held.map { "\($0.reason); its pictures wait" }
            + skipped.map(\.sentence)
    }

    // MARK: - Folders

    /// The outboxes of all recipes. Jobs from before still go to the outboxes of held recipes.
    package func outboxes(_ places: Places) -> [String] {
        (configuration.recipes + configuration.held.map(\.recipe)).map { outbox(of: $0, places) }
    }

    /// A folder that belongs to a recipe.
    package struct WatchedFolder {
        package var path: String
        package var recipe: Recipe
        /// Why the daemon takes nothing there.
        package var refusal: String?
    }

    /// The folders of all recipes. The folders of held recipes are watched as well, so that no other recipe takes the
    /// pictures there.
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
