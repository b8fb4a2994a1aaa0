import PipelineModel
import SystemCalls
import WorkerProtocol

/// What lies in the plugin folders: the files that workers load, and those that are left out.
struct PluginInventory: Sendable {
    private(set) var files: [String] = []
    private(set) var skipped: [SkippedPlugin] = []

    /// Tries every file. The first filter of a name wins, in the order of the folders, and of the files' names within one.
    init(folders: [String], trial: PluginTrial) {
        let files = folders.flatMap { filesIn($0) }
        var first: [String: String] = [:]
        for (file, finding) in zip(files, trial.findings(files)) {
            switch finding {
            case .filter(let stage):
                if let other = first[stage.name] {
                    skip(file, "the filter '\(stage.name)' is in \(other) already")
                } else {
                    first[stage.name] = file
                    self.files.append(file)
                }
            case .refused(let reason):
                skip(file, reason)
            case .unrelated:
                // A build puts other libraries beside its plugins.
                guard FileSystem.resolved(FileSystem.folder(of: file)) != Places.programFolder else { continue }
                skip(file, PluginFinding.noSymbol)
            }
        }
    }

    private mutating func filesIn(_ folder: String) -> [String] {
        guard FileSystem.exists(folder) else { return [] }
        do {
            return try FileSystem.names(in: folder).compactMap(\.self).filter { $0.hasSuffix(".so") }.sorted()
                .map { FileSystem.join(folder, $0) }
        } catch {
            skip(folder, "the folder can't be read: \(error.reason)")
            return []
        }
    }

    private mutating func skip(_ file: String, _ reason: String) {
        skipped.append(SkippedPlugin(file: file, reason: reason))
    }
}
