import JobModel
import SystemCalls

/// The folders of results in an outbox. The daemon creates such a folder for its first result, and removes the folder
/// when the last result has left it.
enum OutboxFolders {
    /// Renames a file into a folder of results. Creates the folder again if it became empty and was removed after the
    /// result's name was chosen.
    static func rename(_ from: String, _ to: String, replacing: Bool = false) throws(SystemError) {
        for attempt in 0... {
            do {
                return try replacing ? FileSystem.rename(from, to) : FileSystem.renameWithoutReplacing(from, to)
            } catch {
                guard error.isMissing, attempt < 3, try FileSystem.exists(from) else { throw error }
                try FileSystem.makeFolders(FileSystem.folder(of: to), durable: true)
            }
        }
    }

    /// Removes the folders that became empty when these results left, but never the outbox itself.
    static func removeEmpty(around steps: [PublishIntent.Step]) {
        let folders = steps.map { (FileSystem.folder(of: $0.target), Staging.outbox(ofFile: $0.staging)) }
        for (folder, outbox) in Dictionary(folders, uniquingKeysWith: { first, _ in first }) {
            if let outbox { FileSystem.removeEmptyFolders(from: folder, upTo: outbox) }
        }
    }

    /// Syncs the folders of these results, so that their renames out of the outbox, or back into it, are durable. A
    /// rename is certain to be durable only once its target folder is synced. This function syncs both folders of each
    /// step, because either may be the target.
    static func sync(_ steps: [PublishIntent.Step]) throws(SystemError) {
        var folders: Set<String> = []
        for place in steps.flatMap({ [$0.target, $0.staging] }) {
            var folder = FileSystem.folder(of: place)
            while try !FileSystem.exists(folder), folder != "/" { folder = FileSystem.folder(of: folder) }
            folders.insert(folder)
        }
        for folder in folders { try FileSystem.sync(folder) }
    }
}
