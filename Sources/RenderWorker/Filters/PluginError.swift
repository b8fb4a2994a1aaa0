/// The reason why a plugin is left out.
struct PluginError: Error, CustomStringConvertible {
    let description: String

    init(_ reason: String) { description = reason }
}
