import SystemCalls
package import WorkerProtocol

extension SkippedPlugin {
    package var sentence: String { "plugin \(file) is left out: \(reason)" }

    /// The filter that a plugin file of this name should contain: `noir` for `noir.so` and for `libnoir.so`.
    fileprivate var filter: String? {
        let name = FileSystem.name(of: file)
        guard name.hasSuffix(".so") else { return nil }
        return String(name.dropFirst(name.hasPrefix("lib") ? 3 : 0).dropLast(3))
    }
}

extension Hello {
    /// Why plugins were left out, keyed by the name of the filter that each plugin should contain.
    package var leftOut: [String: String] {
        Dictionary(skipped.compactMap { plugin in plugin.filter.map { ($0, plugin.sentence) } }) { first, _ in first }
    }
}
