import PipelineModel

/// Downloads from one host, of one priority. Hosts take turns within a priority.
struct HostLane: Hashable, Sendable {
    var host: String
    var priority: Priority
}

/// How many downloads of each host are in the window and have not come yet. Each host has a share, so that a long list from one leaves room
/// for the others.
struct HostTurns {
    var share = 8
    private var pending: [HostLane: Int] = [:]
    /// Lanes that have had their share, and of which there may be more rows.
    private(set) var full: Set<HostLane> = []
    /// Those of them of which some have come since: so many that their rows are worth a query.
    private(set) var due: Set<HostLane> = []
    /// The host that was served last.
    var last: [Priority: String] = [:]

    func room(for lane: HostLane) -> Int { max(0, share - (pending[lane] ?? 0)) }

    mutating func enter(_ lane: HostLane) { pending[lane, default: 0] += 1 }

    mutating func leave(_ lane: HostLane) {
        let left = (pending[lane] ?? 0) - 1
        pending[lane] = left > 0 ? left : nil
        if full.contains(lane), left <= share / 2 { due.insert(lane) }
    }

    /// There may be more of its rows than it has room for.
    mutating func close(_ lane: HostLane) {
        full.insert(lane)
        if room(for: lane) > share / 2 { due.insert(lane) } else { due.remove(lane) }
    }

    /// There are no more rows of it, or they are found as any others are.
    mutating func open(_ lane: HostLane) {
        full.remove(lane)
        due.remove(lane)
    }
}

extension JobRecord {
    /// What it takes turns with, while it has not been downloaded.
    var lane: HostLane? {
        guard needsDownload, let host else { return nil }
        return HostLane(host: host, priority: Priority(rank: priority))
    }
}
