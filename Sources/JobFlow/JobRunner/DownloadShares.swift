/// Counts the URL jobs that this node downloads and the URL jobs that other nodes download. Also remembers the jobs
/// that only this node may download.
struct DownloadShares {
    private struct Host {
        var failures = 0
        /// After too many failures, other nodes don't download from the host until this time.
        var end = ContinuousClock.now
    }

    /// Number of jobs in the window that other nodes download and render.
    private(set) var there = 0
    /// Number of jobs in the window that this node downloads.
    private(set) var here = 0
    /// Jobs that another node has returned. This node will download them itself.
    private var returned: Set<Int> = []
    /// Hosts from which other nodes have recently failed to download.
    private var hosts: [String: Host] = [:]

    private static let mostFailures = 3
    private static let patience = Duration.seconds(300)

    mutating func begin(_ isThere: Bool) { if isThere { there += 1 } else { here += 1 } }

    mutating func end(_ isThere: Bool, made: Bool, of host: String?) {
        if isThere { there -= 1 } else { here -= 1 }
        if isThere, made, let host { hosts[host] = nil }
    }

    /// Returns true if another node has returned this job. In that case, also removes the job from `returned`, because
    /// this node now downloads the job's picture.
    mutating func takeReturned(_ id: Int) -> Bool { returned.remove(id) != nil }

    func takes(_ host: String) -> Bool { hosts[host].map { $0.failures < Self.mostFailures || $0.end < .now } ?? true }

    /// Makes this node download the job's picture itself next time. `host` is set if the other node failed to download
    /// from this host.
    mutating func downloadHere(_ id: Int, host: String?) {
        // The set also keeps cancelled jobs, so it is emptied when it has grown too large. After that, another node may
        // get a job that has been returned already, and may return the job once more.
        if returned.count > 10_000 { returned = [] }
        returned.insert(id)
        hosts = hosts.filter { $0.value.end > .now }
        guard let host else { return }
        hosts[host, default: Host()].failures += 1
        hosts[host]?.end = .now + Self.patience
    }
}
