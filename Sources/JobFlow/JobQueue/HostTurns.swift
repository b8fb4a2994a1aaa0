import JobLedger
import JobModel
import PipelineModel

/// Counts the unfinished downloads of each lane (a host at a priority) in the window. Each lane may use only its share
/// of the window, so that a long list from one host leaves room for other hosts.
struct HostTurns {
    var share = 8
    private var pending: [HostLane: Int] = [:]
    /// Lanes that have used up their share, and may have more rows outside the window.
    private(set) var full: Set<HostLane> = []
    /// Full lanes in which enough downloads have ended to justify a query for more rows.
    private(set) var due: Set<HostLane> = []
    /// The host whose rows were read last, for each priority.
    private var last: [Priority: String] = [:]

    func room(for lane: HostLane) -> Int { max(0, share - (pending[lane] ?? 0)) }

    mutating func enter(_ lane: HostLane) { pending[lane, default: 0] += 1 }

    mutating func leave(_ lane: HostLane) {
        let left = (pending[lane] ?? 0) - 1
        pending[lane] = left > 0 ? left : nil
        if full.contains(lane), left <= share / 2 { due.insert(lane) }
    }

    /// Marks a lane that has used up its share, and may have more rows outside the window.
    mutating func close(_ lane: HostLane) {
        full.insert(lane)
        if room(for: lane) > share / 2 { due.insert(lane) } else { due.remove(lane) }
    }

    /// Unmarks a lane that has no more rows outside the window, or whose rows a later query for all lanes will find.
    mutating func open(_ lane: HostLane) {
        full.remove(lane)
        due.remove(lane)
    }

    /// Reads queued rows host by host, and skips full lanes. Starts after the host that was read last. If it returns
    /// fewer rows than `limit`, no other rows can enter the window.
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
                // With these rows, the lane has used up its share, and it may have more rows.
                if found.count == room { close(lane) }
            }
            self.last[priority] = host
        }
        return rows
    }
}
