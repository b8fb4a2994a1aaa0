/// Limits for clients of the control socket, and for the events kept for them.
public struct ControlSettings: Sendable, Hashable {
    public var maxClients = 256
    public var maxCall: Int64 = 128 * 1024
    public var maxUnread: Int64 = 256 * 1024
    public var stallTimeout = Duration.seconds(60)
    public var maxSize: Int64 = 2 * 1024 * 1024 * 1024
    public var historyEvents = 200_000
    public var lookGroup: String? = "pipelined-look"

    public init() {}

    static let table: [Setting<ControlSettings>] = [
        Setting(
            "Control", "MaxClients", \.maxClients, .count(1...65536),
            "maximum number of connections; a further one closes the connection that has been idle longest"),
        Setting(
            "Control", "MaxCall", \.maxCall, .magnitude(.bytes, 1024...64 * 1024 * 1024),
            "a client that sends a longer call is disconnected"),
        Setting(
            "Control", "MaxUnread", \.maxUnread, .magnitude(.bytes, 1024...64 * 1024 * 1024),
            "while a client has this much left to read, its further calls wait"),
        Setting(
            "Control", "StallTimeout", \.stallTimeout, .duration(.milliseconds(100) ... .seconds(86400)),
            "a client that reads none of its answers for this long is disconnected"),
        Setting(
            "Control", "MaxSize", \.maxSize, .magnitude(.bytes, 1024...1024 * 1024 * 1024 * 1024),
            "clients can't add a larger file"),
        Setting(
            "Control", "HistoryEvents", \.historyEvents, .count(1000...10_000_000),
            "events kept for clients that watch from a cursor"),
        Setting(
            "Control", "LookGroup", \.lookGroup, .group,
            "members of this group may look at jobs and status, and change nothing; empty for none"),
    ]
}

extension SettingType<String?> {
    fileprivate static let group = Self(values: "the name of a group") { text, _ throws(Refusal) in
        guard text.utf8.allSatisfy({ $0.isLetterOrDigit || "._-".utf8.contains($0) }) else {
            throw Refusal("is not the name of a group")
        }
        return text.isEmpty ? nil : text
    } write: {
        $0 ?? ""
    }
}
