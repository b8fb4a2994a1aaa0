import JobLedger
import PipelineModel

/// How many downloads of each host are in the window and have not come yet. Each host has a share, so that a long list from one leaves room
/// for the others.
struct HostTurns {
    var share = 8
    private var pending: [HostLane: Int] = [:]
    /// Lanes that have used up their share, and may have more rows.
    private(set) var full: Set<HostLane> = []
    /// Full lanes in which enough downloads have ended for a query to pay.
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

    /// The lane has no more room, and may have more rows.
    mutating func close(_ lane: HostLane) {
        full.insert(lane)
        if room(for: lane) > share / 2 { due.insert(lane) } else { due.remove(lane) }
    }

    /// The lane has no more rows, or they are found like any others.
    mutating func open(_ lane: HostLane) {
        full.remove(lane)
        due.remove(lane)
    }
}
