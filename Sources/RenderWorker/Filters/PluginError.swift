/// The reason why a plugin is skipped.
struct PluginError: Error, CustomStringConvertible {
    let description: String

    init(_ reason: String) { description = reason }
}
