/// Limits for clients of the control socket, and for the events kept for them.
public struct ControlSettings: Sendable, Hashable {
    public var maxClients = 256
    public var maxCall: Int64 = 128 * 1024
    public var maxUnread: Int64 = 256 * 1024
    public var stallTimeout = Duration.seconds(60)
    public var maxSize: Int64 = 2 * 1024 * 1024 * 1024
    public var historyEvents = 200_000

    public init() {}

    static let table: [Setting<ControlSettings>] = [
        Setting(
            "Control", "MaxClients", \.maxClients, .count(1...65536),
            "connections at once; for one more, the one that has been idle longest is closed"),
        Setting(
            "Control", "MaxCall", \.maxCall, .magnitude(.bytes, 1024...64 * 1024 * 1024),
            "a client that sends a longer call is dropped"),
        Setting(
            "Control", "MaxUnread", \.maxUnread, .magnitude(.bytes, 1024...64 * 1024 * 1024),
            "while a client has so much left to read, its further calls wait"),
        Setting(
            "Control", "StallTimeout", \.stallTimeout, .duration(.milliseconds(100) ... .seconds(86400)),
            "a client that reads none of its answers for so long is dropped"),
        Setting(
            "Control", "MaxSize", \.maxSize, .magnitude(.bytes, 1024...1024 * 1024 * 1024 * 1024),
            "a larger file can't be added by a client"),
        Setting(
            "Control", "HistoryEvents", \.historyEvents, .count(1000...10_000_000),
            "events kept for clients that watch from a cursor"),
    ]
}
