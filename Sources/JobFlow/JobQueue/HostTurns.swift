import JobLedger
import PipelineModel

/// Counts the unfinished downloads of each host in the jobs. Each host has a share, so a long list from one host
/// leaves room for the others.
struct HostTurns {
    var share = 8
    private var pending: [HostLane: Int] = [:]
    /// Lanes that have used up their share, and may have more rows outside.
    private(set) var full: Set<HostLane> = []
    /// Full lanes in which enough downloads have ended to be worth a query.
    private(set) var due: Set<HostLane> = []
    /// The host that was served last.
    private var last: [Priority: String] = [:]

    func room(for lane: HostLane) -> Int { max(0, share - (pending[lane] ?? 0)) }

    mutating func enter(_ lane: HostLane) { pending[lane, default: 0] += 1 }

    mutating func leave(_ lane: HostLane) {
        let left = (pending[lane] ?? 0) - 1
        pending[lane] = left > 0 ? left : nil
        if full.contains(lane), left <= share / 2 { due.insert(lane) }
    }

    /// Marks a lane that has used up its share, and may have more rows outside.
    mutating func close(_ lane: HostLane) {
        full.insert(lane)
        if room(for: lane) > share / 2 { due.insert(lane) } else { due.remove(lane) }
    }

    /// Unmarks a lane that has no more rows, or whose rows the general search finds.
    mutating func open(_ lane: HostLane) {
        full.remove(lane)
        due.remove(lane)
    }

    /// Queued rows of the hosts that have room, host by host, beginning after the host served last. Fewer than `limit`
    /// means that no more exist.
    mutating func rows(of ledger: Ledger, atLeast least: Priority, except: [Int], limit: Int) throws -> [JobRecord] {
        var rows: [JobRecord] = []
        for priority in Priority.allCases.reversed() where priority >= least {
            let last = last[priority] ?? ""
            var host = last
            var isAround = false
            while rows.count < limit {
                guard let next = try ledger.host(after: host, priority) else {
                    if isAround { break }
                    isAround = true
                    host = ""
                    continue
                }
                if isAround, next > last { break }
                host = next
                let lane = HostLane(host: host, priority: priority)
                guard !full.contains(lane) else { continue }
                let room = room(for: lane)
                let found = try ledger.queued(lane, except: except, limit: min(room, limit - rows.count))
                rows += found
                // The lane may have more rows.
                if found.count == room { close(lane) }
            }
            self.last[priority] = host
        }
        return rows
    }
}
