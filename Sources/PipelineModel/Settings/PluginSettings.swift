/// How plugins are loaded, and how much their filters may log.
public struct PluginSettings: Sendable, Hashable {
    public var timeout = Duration.seconds(15)
    public var lines = 10

    public init() {}

    static let table: [Setting<PluginSettings>] = [
        Setting(
            "Daemon", "PluginTimeout", \.timeout, .duration(.milliseconds(100) ... .seconds(3600)),
            "how long a worker may take to load its plugins; a plugin that takes longer is left out"),
        Setting(
            "Daemon", "FilterLines", \.lines, .count(0...10000),
            "so many lines of the filters' messages about one picture are logged"),
    ]
}
