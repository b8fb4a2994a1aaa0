/// How plugins are loaded, and what their filters may say.
public struct PluginSettings: Sendable, Hashable {
    public var timeout = Duration.seconds(15)
    public var lines = 10

    public init() {}

    static let table: [Setting<PluginSettings>] = [
        Setting(
            "Daemon", "PluginTimeout", \.timeout, .duration(.milliseconds(100) ... .seconds(3600)),
            "how long a worker may take to load its plugins; one in which it stays longer is left out"),
        Setting(
            "Daemon", "FilterLines", \.lines, .count(0...10000),
            "of what filters say about one picture, so many lines are logged"),
    ]
}
