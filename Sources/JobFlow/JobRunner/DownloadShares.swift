/// Counts the jobs of URLs by who downloads them, and knows which ones other nodes are not to download.
struct DownloadShares {
    private struct Host {
        var failures = 0
        /// Until then this node downloads from it.
        var end = ContinuousClock.now
    }

    /// The jobs of the window that another node downloads and renders, and those that are downloaded here.
    private(set) var there = 0
    private(set) var here = 0
    /// Jobs that have come home, and are downloaded here the next time.
    private var home: Set<Int> = []
    /// Hosts from which nodes could not download lately.
    private var hosts: [String: Host] = [:]

    private static let mostFailures = 3
    private static let patience = Duration.seconds(300)

    mutating func begin(_ isThere: Bool) { if isThere { there += 1 } else { here += 1 } }

    mutating func end(_ isThere: Bool, made: Bool, of host: String?) {
        if isThere { there -= 1 } else { here -= 1 }
        if isThere, made, let host { hosts[host] = nil }
    }

    /// Whether this job has come home, which is forgotten then.
    mutating func isHome(_ id: Int) -> Bool { home.remove(id) != nil }

    func takes(_ host: String) -> Bool { hosts[host].map { $0.failures < Self.mostFailures || $0.end < .now } ?? true }

    /// `host` is named when the download has failed.
    mutating func keepHome(_ id: Int, host: String?) {
        // Nobody looks at those that were cancelled. One that is offered once more comes home once more.
        if home.count > 10_000 { home = [] }
        home.insert(id)
        hosts = hosts.filter { $0.value.end > .now }
        guard let host else { return }
        hosts[host, default: Host()].failures += 1
        hosts[host]?.end = .now + Self.patience
    }
}
