import CPipelinePlugin
import Foundation
import Glibc
import PipelineModel
import SystemCalls
import WorkerConfinement
import WorkerProtocol

/// Filters loaded from plugins. Skips a plugin that can't be loaded or whose description is invalid, and records the
/// reason. Plugins are never unloaded.
struct FilterLibrary {
    private(set) var filters: [String: Filter] = [:]
    private(set) var skipped: [SkippedPlugin] = []
    private let resources: [String]
    private let joins: Bool
    /// Traits that the worker ignores, though filters declare them.
    private let withdrawn: Set<StageTrait>
    /// Bytes left for filters' descriptions in the `hello` message to the daemon.
    private var room = WorkerChannel.longestMessage * 3 / 4

    /// `paths` are plugin files, or folders of them; `resources` are folders that contain the filters' own folders. If
    /// `joins` is false, each filter runs on the picture itself instead of becoming part of a lookup table. Calls
    /// `loading` before it loads each file.
    init(
        _ paths: [String], resources: [String] = [], joins: Bool = true, withdrawn: Set<StageTrait> = [],
        loading: (String) -> Void = { _ in }
    ) {
        self.withdrawn = withdrawn
        self.resources = resources + paths.map { FileSystem.isFolder($0) ? $0 : FileSystem.folder(of: $0) }
        self.joins = joins
        let own = FileSystem.folder(of: FileSystem.resolved("/proc/self/exe"))
        for path in paths {
            guard FileSystem.isFolder(path) else {
                loading(path)
                load(path)
                continue
            }
            // A build also puts libraries that are not plugins into the program's own folder, so silently skip
            // libraries without the plugin symbol.
            let isOwn = FileSystem.resolved(path) == own
            for file in files(in: path) {
                loading(file)
                load(file, quietlyWithoutSymbol: isOwn)
            }
        }
    }

    var descriptions: [StageDescription] { filters.values.map(\.description).sorted { $0.name < $1.name } }

    /// Paths that filters may read: their own folders, and fonts.
    var readable: [String] {
        filters.values.compactMap(\.resources).sorted() + (drawsText ? Walls.fonts : [])
    }

    var drawsText: Bool { filters.values.contains { $0.description.traits.contains(.drawsText) } }

    func traits(_ stage: Stage) -> Set<StageTrait> { filters[stage.name]?.description.traits(of: stage) ?? [] }

    /// Whether the stage only moves pixels, and does so in the same way for all pictures of one size.
    func movesPixels(_ stage: Stage) -> Bool {
        traits(stage).contains(.movesPixels) && filters[stage.name]?.arrangement(stage, 1000, 1000) != nil
    }

    /// Joins as many of the leading stages as possible into a lookup table. Nil if none can be joined.
    func table(_ stages: some Sequence<Stage>, of picture: Picture) -> FilterTable? {
        table(stages, isGrey: picture.colourBands == 1, hasAlpha: picture.hasAlpha)
    }

    /// Like `table(_:of:)`, for callers that know only these two properties of the picture.
    func table(_ stages: some Sequence<Stage>, isGrey: Bool, hasAlpha: Bool) -> FilterTable? {
        let length = TableRun.length(stages, isGrey: isGrey, hasAlpha: hasAlpha, traits: traits)
        guard joins, length > 0 else { return nil }
        return FilterTable(
            stages: stages.prefix(length).compactMap { stage in filters[stage.name].map { (stage, $0) } })
    }

    private mutating func files(in folder: String) -> [String] {
        do {
            return try FileSystem.names(in: folder).compactMap(\.self).filter { $0.hasSuffix(".so") }.sorted()
                .map { FileSystem.join(folder, $0) }
        } catch {
            if FileSystem.mayExist(folder) {
                skipped.append(SkippedPlugin(file: folder, reason: "the folder can't be read: \(error.reason)"))
            }
            return []
        }
    }

    private mutating func load(_ file: String, quietlyWithoutSymbol: Bool = false) {
        do {
            guard let plugin = try Plugin(file) else {
                if !quietlyWithoutSymbol { throw PluginError("it has no symbol 'pipeline_filter'") }
                return
            }
            var description = plugin.description
            description.traits.subtract(withdrawn)
            let name = description.name
            if let first = filters[name] {
                throw PluginError("the filter '\(name)' is in \(first.description.file ?? "another file") already")
            }
            room -= (try? JSONEncoder().encode(description).count) ?? 0
            guard room >= 0 else {
                throw PluginError("all filters together say too much of themselves; shorten its help")
            }
            let folders = resources.map { FileSystem.join($0, name) }
            let own = folders.first(where: FileSystem.isFolder)
            filters[name] = Filter(
                plugin.filter, description: description, resources: own,
                ownFolder: own ?? folders.first ?? name)
        } catch {
            skipped.append(SkippedPlugin(file: file, reason: "\(error)"))
        }
    }
}
