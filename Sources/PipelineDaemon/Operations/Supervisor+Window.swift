import JobLedger
import OperationGraph
import PipelineModel

/// The window: the rows that have operations.
extension Supervisor {
    /// How many jobs may be in the window for one of this priority to follow. Each finds room that the lower ones leave it, and need not
    /// wait until these have been worked off: low ones leave some of the window, high ones go beyond it.
    private func limit(for priority: Priority) -> Int {
        let size = settings.window
        let reserve = max(4, size / 8)
        return switch priority {
        case .low: max(1, size / 2, size - reserve)
        case .normal: size
        case .high: size + reserve
        }
    }

    /// Rows are taken so many at a time: a query for each job that ends would cost more than the job.
    private var portion: Int { max(1, settings.window / 16) }

    /// Takes rows into the window, as far as there is room. `arrived` is the highest priority of those that may have come to the queue.
    func fill(arrived: Priority? = .high) {
        for entry in Entry.allCases { fill(entry, arrived: arrived) }
    }

    private func fill(_ entry: Entry, arrived: Priority?) {
        let known = outside[entry]
        outside[entry] = [known, arrived].compactMap(\.self).max()
        guard !stopping, fillHolds == 0, !queue(of: entry).report.paused else { return }
        do {
            if entry == .download { try fillLanes() }
            guard let highest = outside[entry] else { return }
            followProcessors()
            let isNews = known.map { $0 < highest } ?? true
            guard isNews || window.count(entry) <= limit(for: highest) - portion else { return }
            try fillFromOutside(entry)
        } catch {
            // Logged by the ledger, and repeated by `readLater`.
        }
    }

    /// Jobs that reach a barrier without any work leave at once: no more are taken while many are unrecorded.
    private var isHeldUp: Bool { ending.count > max(256, settings.window) }

    private func fillFromOutside(_ entry: Entry) throws {
        while let highest = outside[entry], window.count(entry) < limit(for: highest), !isHeldUp {
            let here = window.count(entry)
            let least = Priority.allCases.first { here < limit(for: $0) } ?? highest
            let room = min(256, limit(for: highest) - here)
            let rows =
                entry == .download && !turns.full.isEmpty
                ? try rowsInTurn(atLeast: least, limit: room)
                : try ledger.queued(entry, atLeast: least, except: window.ids + ending, limit: room)
            for row in rows {
                let priority = Priority(rank: row.priority)
                outside[entry] = priority
                guard window.count(entry) < limit(for: priority) else { return }
                if let lane = row.lane, turns.room(for: lane) == 0 {
                    turns.close(lane)
                    continue
                }
                guard take(row) else { return }
            }
            if rows.count < room { outside[entry] = Priority.allCases.last { $0 < least } }
        }
    }

    /// False when nothing more is to be taken for the time being.
    private func take(_ row: JobRecord) -> Bool {
        // The filter is missing: the job would only fail.
        if let resource = shortages.keys.first(where: { $0.isFilter && row.order.needs($0) }) {
            setAside(resource)
            return false
        }
        start(row)
        return true
    }

    // MARK: - Hosts

    /// Refills full lanes in which downloads have ended.
    private func fillLanes() throws {
        while !isHeldUp, let lane = turns.due.first {
            // The window is full: the lane's rows are found with all others later.
            guard window.count(.download) < limit(for: lane.priority) else {
                turns.open(lane)
                outside[.download] = max(outside[.download] ?? .low, lane.priority)
                continue
            }
            let room = turns.room(for: lane)
            let rows = try ledger.queued(lane, except: window.ids + ending, limit: room)
            for row in rows {
                guard take(row) else { return }
            }
            if rows.count < room { turns.open(lane) } else { turns.close(lane) }
        }
    }

    /// Rows of the hosts that have room, host by host, beginning after the host served last. Fewer than `limit` means
    /// that there are no more.
    private func rowsInTurn(atLeast least: Priority, limit: Int) throws -> [JobRecord] {
        var rows: [JobRecord] = []
        let except = window.ids + ending
        for priority in Priority.allCases.reversed() where priority >= least {
            let last = turns.last[priority] ?? ""
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
                guard !turns.full.contains(lane) else { continue }
                let room = turns.room(for: lane)
                let found = try ledger.queued(lane, except: except, limit: min(room, limit - rows.count))
                rows += found
                // There may be more.
                if found.count == room { turns.close(lane) }
            }
            turns.last[priority] = host
        }
        return rows
    }
}
