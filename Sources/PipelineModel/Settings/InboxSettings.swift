/// How the daemon notices new files in an inbox.
public enum WatchMode: String, Sendable, Hashable, Codable, CaseIterable {
    /// Use inotify if the file system reports all changes, else polling.
    case auto
    case inotify
    case poll
}

/// How an inbox is watched. A recipe's own [Inbox] section overrides the [Inbox] section of the settings.
public struct InboxSettings: Sendable, Hashable {
    public var watch = WatchMode.auto
    public var settle = Duration.milliseconds(500)
    public var pollInterval = Duration.seconds(5)
    public var settlePolled = Duration.seconds(5)
    public var writerTimeout = Duration.seconds(600)

    public init() {}

    static let table: [Setting<InboxSettings>] = [
        Setting(
            "Inbox", "Watch", \.watch, .word,
            "how new files are noticed: auto, inotify, or poll for network folders"),
        Setting(
            "Inbox", "Settle", \.settle, .duration(.zero ... .seconds(3600)),
            "how long a file must stay unchanged before it is taken"),
        Setting(
            "Inbox", "PollInterval", \.pollInterval, .duration(.milliseconds(50) ... .seconds(86400)),
            "how often a polled folder is read"),
        Setting(
            "Inbox", "SettlePolled", \.settlePolled, .duration(.zero ... .seconds(3600)),
            "the same as Settle, in a polled folder"),
        Setting(
            "Inbox", "WriterTimeout", \.writerTimeout, .duration(.zero ... .seconds(86400)),
            "how long another user's file is left alone after its last change if nobody was seen closing it"),
    ]
}
