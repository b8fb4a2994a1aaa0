import CLinux
import CPipelinePlugin
import Glibc
import PipelineModel
import SystemCalls

/// A loaded plugin file.
struct Plugin {
    let filter: PipelineFilter
    let description: StageDescription

    /// Returns nil for a library that is not a plugin.
    init?(_ file: String) throws(PluginError) {
        guard let handle = dlopen(file, RTLD_NOW | RTLD_LOCAL) else {
            throw PluginError("it can't be loaded: \(dlerror().map { String(cString: $0) } ?? "no reason was given")")
        }
        guard let entry = clinux_entry(handle, "pipeline_filter") else { return nil }
        guard let start = entry() else {
            throw PluginError("its function 'pipeline_filter' returned nothing")
        }
        let layout = try PluginLayout(start)
        var description = try PluginDescription(layout, file: file).stage()
        do {
            description.digest = try FileHash.sha256(try Descriptor.open(file, O_RDONLY))
        } catch {
            throw PluginError("it can't be read: \(error)")
        }
        self.description = description
        filter = layout.filter
    }
}
