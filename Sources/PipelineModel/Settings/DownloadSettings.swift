/// Limits of downloads: time, space and connections.
public struct DownloadSettings: Sendable, Hashable {
    public var connectTimeout = Duration.seconds(10)
    public var stallTimeout = Duration.seconds(30)
    public var maxSize: Int64 = 512 << 20
    public var perHost = 4
    public var retries = 5
    public var redirects = 5
    public var allowPrivateHosts: [String] = []
    public var listSize: Int64 = 16 << 20
    public var listLines = 200_000

    public init() {}

    static let table: [Setting<DownloadSettings>] = [
        Setting(
            "Download", "ConnectTimeout", \.connectTimeout, .duration(.milliseconds(100) ... .seconds(600)),
            "how long looking up a server and connecting to it may take"),
        Setting(
            "Download", "StallTimeout", \.stallTimeout, .duration(.milliseconds(100) ... .seconds(3600)),
            "a server that sends less than 1 KB within this time is abandoned"),
        Setting(
            "Download", "MaxSize", \.maxSize, .magnitude(.bytes, 1024...1 << 40),
            "a larger download fails; a compressed one counts by its unpacked size"),
        Setting(
            "Download", "PerHost", \.perHost, .count(1...1024),
            "maximum downloads from one server at once, and connections to it; servers take turns"),
        Setting(
            "Download", "Retries", \.retries, .count(0...100),
            "how often an interrupted download is resumed at once; after that it is retried later"),
        Setting(
            "Download", "Redirects", \.redirects, .count(0...50), "maximum number of redirects"),
        Setting(
            "Download", "AllowPrivateHosts", \.allowPrivateHosts, .hosts,
            "hosts whose addresses may be private: host or host:port, as in URLs"),
        Setting(
            "Download", "ListSize", \.listSize, .magnitude(.bytes, 1024...1 << 30), "a longer list of URLs fails"),
        Setting(
            "Download", "ListLines", \.listLines, .count(1...10_000_000), "a list of URLs with more lines fails"),
    ]
}

extension SettingType<[String]> {
    /// A space-separated list of hosts. Each assignment appends to the list.
    static let hosts = Self(values: "hosts") { text, before throws(Refusal) in
        let hosts = text.split(separator: " ").map(String.init)
        guard hosts.allSatisfy({ host in host.allSatisfy { $0.isLetter || $0.isNumber || ".-_:[]".contains($0) } })
        else { throw Refusal("is not a host", advice: "write host, or host:port, as in URLs, without https://") }
        return before + hosts
    } write: {
        $0.joined(separator: " ")
    }
}
