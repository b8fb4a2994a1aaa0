import Foundation
package import PictureFiles
import PipelineModel
import ServiceProgram
import SystemCalls
import WorkerPools

/// The last correct settings and inboxes, stored in `state/last-good.json`. A start uses them if the current settings
/// contain a mistake.
package struct LastGood: Codable {
    package struct File: Codable {
        var name: String
        var text: String
    }

    /// The administrator's settings files, without `saved.conf`.
    package var settings: [File]
    /// The inbox of each recipe, as written in Inbox=. A recipe that can't be read keeps its last inbox.
    package var inboxes: [String: String]

    package init(_ loaded: LoadedConfiguration) {
        settings = loaded.texts.map { File(name: $0.name, text: $0.text) }
        inboxes = loaded.lastInboxes.filter { loaded.configuration.held($0.key) != nil }
        for recipe in loaded.configuration.recipes { inboxes[recipe.name] = recipe.inbox }
    }

    var texts: [ConfigurationText] { settings.map { ConfigurationText(name: $0.name, text: $0.text) } }

    // MARK: - On disk

    /// Reads the stored settings. Returns nil if no settings have been correct yet, or the file can't be read.
    package static func read(_ places: Places) -> LastGood? {
        guard let data = FileManager.default.contents(atPath: places.lastGood) else { return nil }
        return try? JSONDecoder().decode(LastGood.self, from: data)
    }

    /// Writes the settings to disk, if they have changed. Blocks while the state folder's disk does not answer.
    package func keep(_ places: Places) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            let data = try encoder.encode(self)
            guard data != FileManager.default.contents(atPath: places.lastGood) else { return }
            try FileSystem.write(data, to: places.lastGood)
            // Settings may contain secrets.
            try FileSystem.keepPrivate(places.lastGood, mode: 0o600)
        } catch {
            Log.failure("\(error), ignoring: a mistake in the settings would keep the next start from using these")
        }
    }
}
