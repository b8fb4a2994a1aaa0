/// Counts URL jobs by the node that downloads them, and knows which jobs other nodes must not download.
struct DownloadShares {
    private struct Host {
        var failures = 0
        /// This node downloads from the host until then.
        var end = ContinuousClock.now
    }

    /// Jobs in the window that another node downloads and renders; `here` counts those that this node downloads.
    private(set) var there = 0
    private(set) var here = 0
    /// Jobs that another node has returned. This node downloads them next time.
    private var home: Set<Int> = []
    /// Hosts from which other nodes have recently failed to download.
    private var hosts: [String: Host] = [:]

    private static let mostFailures = 3
    private static let patience = Duration.seconds(300)

    mutating func begin(_ isThere: Bool) { if isThere { there += 1 } else { here += 1 } }

    mutating func end(_ isThere: Bool, made: Bool, of host: String?) {
        if isThere { there -= 1 } else { here -= 1 }
        if isThere, made, let host { hosts[host] = nil }
    }

    /// Whether another node has returned this job; forgets it then.
    mutating func isHome(_ id: Int) -> Bool { home.remove(id) != nil }

    func takes(_ host: String) -> Bool { hosts[host].map { $0.failures < Self.mostFailures || $0.end < .now } ?? true }

    /// `host` is set if the download has failed.
    mutating func keepHome(_ id: Int, host: String?) {
        // Cancelled jobs are never looked up, so the set has a limit. A forgotten job may be lent once more, and is
        // returned again.
        if home.count > 10_000 { home = [] }
        home.insert(id)
        hosts = hosts.filter { $0.value.end > .now }
        guard let host else { return }
        hosts[host, default: Host()].failures += 1
        hosts[host]?.end = .now + Self.patience
    }
}
