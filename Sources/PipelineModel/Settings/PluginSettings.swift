/// How plugins are loaded, and how much their filters may log.
public struct PluginSettings: Sendable, Hashable {
    public var timeout = Duration.seconds(15)
    public var lines = 10
    /// Maximum size of all files that filters may use together, in bytes.
    public var mostFiles: Int64 = 64 << 20

    public init() {}

    static let table: [Setting<PluginSettings>] = [
        Setting(
            "Daemon", "PluginTimeout", \.timeout, .duration(.milliseconds(100) ... .seconds(3600)),
            "how long a worker may take to load its plugins; a plugin that takes longer is left out"),
        Setting(
            "Daemon", "FilterLines", \.lines, .count(0...10000),
            "maximum lines that the filters may log about one picture"),
        Setting(
            "Daemon", "FilterFiles", \.mostFiles, .magnitude(.bytes, 0...1 << 30),
            "maximum size of all files together that filters use, such as .cube files in recipes.d; the daemon holds them"
        ),
    ]
}
