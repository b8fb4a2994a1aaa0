import CPipelinePlugin
import Foundation
import Glibc
import PipelineModel
import SystemCalls
import WorkerProtocol

/// The filters of the plugin folders. What doesn't load, or says something impossible of itself, is left out with the reason.
/// Nothing is ever unloaded.
struct FilterLibrary {
    private(set) var filters: [String: Filter] = [:]
    private(set) var skipped: [SkippedPlugin] = []

    /// `loading` hears of each file before it is loaded.
    init(folders: [String], loading: (String) -> Void = { _ in }) {
        let own = FileSystem.folder(of: FileSystem.resolved("/proc/self/exe"))
        for folder in folders where FileSystem.exists(folder) {
            // A build puts other libraries beside its plugins.
            load(folder, quietlyWithoutSymbol: FileSystem.resolved(folder) == own, loading)
        }
    }

    var descriptions: [StageDescription] { filters.values.map(\.description).sorted { $0.name < $1.name } }

    private mutating func load(_ folder: String, quietlyWithoutSymbol: Bool, _ loading: (String) -> Void) {
        let names: [String]
        do {
            names = try FileSystem.names(in: folder).compactMap(\.self).filter { $0.hasSuffix(".so") }.sorted()
        } catch {
            skipped.append(SkippedPlugin(file: folder, reason: "the folder can't be read: \(error.reason)"))
            return
        }
        for name in names {
            let file = FileSystem.join(folder, name)
            loading(file)
            do {
                guard let filter = try open(file, quietlyWithoutSymbol) else { continue }
                let name = filter.description.name
                if let first = filters[name] {
                    throw PluginError("the filter '\(name)' is in \(first.description.file ?? "another file") already")
                }
                filters[name] = filter
            } catch {
                skipped.append(SkippedPlugin(file: file, reason: "\(error)"))
            }
        }
    }

    private func open(_ file: String, _ quietlyWithoutSymbol: Bool) throws(PluginError) -> Filter? {
        guard let handle = dlopen(file, RTLD_NOW | RTLD_LOCAL) else {
            throw PluginError("it can't be loaded: \(dlerror().map { String(cString: $0) } ?? "no reason was given")")
        }
        guard let symbol = dlsym(handle, "pipeline_filter") else {
            if quietlyWithoutSymbol { return nil }
            throw PluginError("it has no symbol 'pipeline_filter'")
        }
        typealias Entry = @convention(c) () -> UnsafePointer<PipelineFilter>?
        guard let filter = unsafeBitCast(symbol, to: Entry.self)() else {
            throw PluginError("its function 'pipeline_filter' returned nothing")
        }
        guard filter.pointee.abi == UInt32(PIPELINE_PLUGIN_ABI) else {
            throw PluginError(
                "it is made for version \(filter.pointee.abi) of the contract; this is \(PIPELINE_PLUGIN_ABI)")
        }
        return Filter(filter, description: try PluginDescription(filter.pointee, file: file).stage())
    }
}

/// Why a plugin is left out.
struct PluginError: Error, CustomStringConvertible {
    let description: String

    init(_ reason: String) { description = reason }
}
