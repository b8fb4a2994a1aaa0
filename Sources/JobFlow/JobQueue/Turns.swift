import JobLedger
import JobModel
import PipelineModel

/// Reads rows for the window from the lanes of a queue, which take turns.
///
/// Each lane may use only its share of the window, so that a long list from one host, a large batch, or a user with
/// many pictures leaves room for other jobs. In the window, the queue's gate admits operations from the lanes in turn.
struct Turns {
    private let queue: FirstQueue
    var share: Int
    /// Number of each lane's jobs in the window. In the download queue, only unfinished downloads count.
    private var pending: [Lane: Int] = [:]
    /// Lanes that have used up their share, and may have more rows outside the window.
    private(set) var full: Set<Lane> = []
    /// Full lanes in which enough jobs have ended to justify a query for more rows.
    private(set) var due: Set<Lane> = []
    /// For each priority, the group (a host or a recipe) whose rows were read last.
    private var lastGroup: [Priority: String] = [:]
    /// For each recipe, the member (a batch or a user) whose rows were read last.
    private var lastMember: [String: Int] = [:]

    init(_ queue: FirstQueue, share: Int = .max) { (self.queue, self.share) = (queue, share) }

    func room(for lane: Lane) -> Int { max(0, share - (pending[lane] ?? 0)) }

    mutating func enter(_ lane: Lane) { pending[lane, default: 0] += 1 }

    mutating func leave(_ lane: Lane) {
        let left = (pending[lane] ?? 0) - 1
        pending[lane] = left > 0 ? left : nil
        if full.contains(lane), left <= share / 2 { due.insert(lane) }
    }

    /// Marks the lane as full: it has used up its share, and may have more rows outside the window.
    mutating func close(_ lane: Lane) {
        full.insert(lane)
        if room(for: lane) > share / 2 { due.insert(lane) } else { due.remove(lane) }
    }

    /// Marks the lane as no longer full. Either the lane has no more rows outside the window, or a later query for all
    /// lanes will find the lane's rows.
    mutating func open(_ lane: Lane) {
        full.remove(lane)
        due.remove(lane)
    }

    /// Reads queued rows lane by lane, and skips full lanes. The groups take turns, starting after the group that was
    /// read last; each turn reads one lane of a group. If the result has fewer rows than `limit`, no other rows can
    /// enter the window.
    mutating func rows(of ledger: Ledger, atLeast least: Priority, except: [Int], limit: Int) throws -> [JobRecord] {
        var rows: [JobRecord] = []
        var exhausted: Set<Lane> = []
        for priority in Priority.allCases.reversed() where priority >= least {
            var withoutRows: Set<String> = []
            while rows.count < limit, let group = try nextGroup(priority, ledger) {
                lastGroup[priority] = group
                let found = try self.rows(
                    of: ledger, group, priority, except: except, limit: limit - rows.count, &exhausted)
                rows += found
                if !found.isEmpty {
                    withoutRows = []
                } else if !withoutRows.insert(group).inserted {
                    break
                }
            }
        }
        return rows
    }

    private func nextGroup(_ priority: Priority, _ ledger: Ledger) throws -> String? {
        try ledger.group(after: lastGroup[priority] ?? "", queue, priority) ?? ledger.group(after: "", queue, priority)
    }

    /// Reads rows of the group's next lane that has room and rows.
    private mutating func rows(
        of ledger: Ledger, _ group: String, _ priority: Priority, except: [Int], limit: Int,
        _ exhausted: inout Set<Lane>
    ) throws -> [JobRecord] {
        let last = lastMember[group] ?? .min
        var member = last
        var isAround = false
        while true {
            guard let next = try self.member(after: member, of: group, priority, ledger) else {
                if isAround { return [] }
                (isAround, member) = (true, .min)
                continue
            }
            if isAround, next > last { return [] }
            member = next
            let lane = Lane(queue, group, member: member, priority)
            guard !full.contains(lane), !exhausted.contains(lane) else { continue }
            let room = room(for: lane)
            let found = try ledger.queued(lane, except: except, limit: min(room, limit))
            // If the rows fill the lane's room, the lane has used up its share, and may have more rows.
            if found.count == room { close(lane) } else if found.count < limit { exhausted.insert(lane) }
            guard !found.isEmpty else { continue }
            if queue == .render { lastMember[group] = member }
            return found
        }
    }

    private func member(after member: Int, of group: String, _ priority: Priority, _ ledger: Ledger) throws -> Int? {
        switch queue {
        case .download: member < 0 ? 0 : nil
        case .render: try ledger.member(after: member, of: group, priority)
        }
    }
}

/// The turns of the download queue and the turns of the render queue. Each job starts in one of these two queues.
struct WindowTurns {
    private var download = Turns(.download, share: 8)
    private var render = Turns(.render)

    subscript(queue: FirstQueue) -> Turns {
        get {
            switch queue {
            case .download: download
            case .render: render
            }
        }
        _modify {
            switch queue {
            case .download: yield &download
            case .render: yield &render
            }
        }
    }
}
