/// How plugins are loaded, and what their filters may say.
public struct PluginSettings: Sendable, Hashable {
    public var timeout = Duration.seconds(5)
    public var lines = 10

    static let table: [Setting<PluginSettings>] = [
        Setting(
            "Daemon", "PluginTimeout", \.timeout, .duration(.milliseconds(100) ... .seconds(3600)),
            "how long a plugin may take to load before it is left out"),
        Setting(
            "Daemon", "FilterLines", \.lines, .count(0...10000),
            "of what filters say about one picture, so many lines are logged"),
    ]
}
