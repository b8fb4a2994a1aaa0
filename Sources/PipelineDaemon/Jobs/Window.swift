import DaemonRuntime
import JobLedger
import OperationGraph
import PipelineModel

/// Makes a job of a row that comes into the window.
@Coordination
protocol WindowDelegate: AnyObject {
    /// False when nothing more is to be taken for the time being.
    func take(_ row: JobRecord) -> Bool
}

/// The window: the jobs that have operations. All others wait as rows of the ledger, and follow in the order of their
/// position. Downloads and pictures have room of their own.
@Coordination
final class Window {
    private let ledger: Ledger
    private let queues: Queues
    private let configuration: ConfigurationInForce
    private let counts: JobCounts
    private let limits: QueueLimits
    weak var delegate: (any WindowDelegate)?

    private var jobs: [Int: Job] = [:]
    /// How many of them began in each queue.
    private var begun: [FirstQueue: Int] = [:]
    /// Jobs that have left the window, and are not yet recorded as what they are.
    private var ending: Set<Int> = []
    /// Highest priority of the rows that are not in the window, or nil.
    private var outside: [FirstQueue: Priority] = [.download: .high, .render: .high]
    private var turns = HostTurns()
    /// While rows are being changed in bulk, none is taken.
    private var holds = 0
    private var isClosed = false

    init(
        _ ledger: Ledger, _ queues: Queues, _ configuration: ConfigurationInForce, _ counts: JobCounts,
        _ limits: QueueLimits
    ) {
        (self.ledger, self.queues, self.configuration) = (ledger, queues, configuration)
        (self.counts, self.limits) = (counts, limits)
    }

    // MARK: - Jobs

    subscript(id: Int) -> Job? { jobs[id] }
    var all: some Collection<Job> { jobs.values }
    var ids: [Int] { Array(jobs.keys) }
    var count: Int { jobs.count }
    var isEmpty: Bool { jobs.isEmpty }
    /// The end of each job that has left is recorded.
    var isSettled: Bool { ending.isEmpty }

    func enter(_ job: Job) {
        jobs[job.record.id] = job
        begun[job.entry, default: 0] += 1
        if job.download != nil, let lane = job.lane { turns.enter(lane) }
    }

    func leave(_ job: Job) {
        guard jobs.removeValue(forKey: job.record.id) != nil else { return }
        begun[job.entry, default: 0] -= 1
    }

    /// The row is not read again before it is recorded as what it has become.
    func beginEnding(_ id: Int) { ending.insert(id) }

    func finishEnding(_ id: Int) {
        ending.remove(id)
        fill(arrived: nil)
    }

    /// The job's download has ended: its host has room for another.
    func downloaded(_ job: Job) {
        guard let lane = job.lane else { return }
        turns.leave(lane)
        if turns.due.contains(lane) { fill(arrived: nil) }
    }

    // MARK: - Rows

    /// No row is taken before as many calls of `goOn`.
    func hold() { holds += 1 }

    func goOn(arrived: Priority? = .high) {
        holds -= 1
        fill(arrived: arrived)
    }

    /// No row is taken any more.
    func close() { isClosed = true }

    /// So many rows that waited are queued again.
    func cameBack(_ count: Int) {
        counts.move(count, from: .waiting, to: .queued)
        fill()
    }

    /// A host has so many downloads in the window at the most.
    func set(perHost: Int) {
        turns.share = min(max(8, 2 * perHost), max(perHost, configuration.settings.window / 2))
    }

    /// Rows have just been inserted. Jobs that come before all that wait outside are taken as they are; the others are
    /// read when their turn comes.
    func fill(inserted rows: [JobRecord]) {
        var left: Priority?
        for row in rows where row.state == .queued && (left != nil || !takeAtOnce(row)) {
            left = max(left ?? .low, Priority(rank: row.priority))
        }
        fill(arrived: left)
    }

    /// A row that is in the window already was found there by another call. Downloads wait for the turn of their host.
    private func takeAtOnce(_ row: JobRecord) -> Bool {
        if jobs[row.id] != nil || ending.contains(row.id) { return true }
        let size = configuration.settings.window
        let priority = Priority(rank: row.priority)
        guard row.entry == .render, mayTake(.render), outside[.render].map({ $0 < priority }) ?? true,
            count(.render) < priority.limit(in: size), !isHeldUp(size)
        else { return false }
        followProcessors()
        return take(row)
    }

    private func followProcessors() {
        limits.followProcessors { [weak self] in self.map { !$0.isEmpty && !$0.isClosed } ?? false }
    }

    private func mayTake(_ entry: FirstQueue) -> Bool { !isClosed && holds == 0 && !queues[entry].report.paused }

    /// Takes rows into the window, as far as there is room. `arrived` is the highest priority of those that may have
    /// come to the queue.
    func fill(arrived: Priority? = .high) {
        for entry in FirstQueue.allCases { fill(entry, arrived: arrived) }
    }

    private func fill(_ entry: FirstQueue, arrived: Priority?) {
        let known = outside[entry]
        outside[entry] = [known, arrived].compactMap(\.self).max()
        guard mayTake(entry) else { return }
        let size = configuration.settings.window
        do {
            if entry == .download { try fillLanes(size) }
            guard let highest = outside[entry] else { return }
            followProcessors()
            let isNews = known.map { $0 < highest } ?? true
            guard isNews || count(entry) <= highest.limit(in: size) - portion(size) else { return }
            try fillFromOutside(entry, size)
        } catch {
            // Logged by the ledger, and repeated by `RepeatedReads`.
        }
    }

    /// Rows are taken so many at a time: a query for each job that ends would cost more than the job.
    private func portion(_ size: Int) -> Int { max(1, size / 16) }

    private func count(_ entry: FirstQueue) -> Int { begun[entry] ?? 0 }

    /// Jobs that reach a barrier without any work leave at once: no more are taken while many are unrecorded.
    private func isHeldUp(_ size: Int) -> Bool { ending.count > max(256, size) }

    private func fillFromOutside(_ entry: FirstQueue, _ size: Int) throws {
        while let highest = outside[entry], count(entry) < highest.limit(in: size), !isHeldUp(size) {
            let here = count(entry)
            let least = Priority.allCases.first { here < $0.limit(in: size) } ?? highest
            let room = min(256, highest.limit(in: size) - here)
            let rows =
                entry == .download && !turns.full.isEmpty
                ? try rowsInTurn(atLeast: least, limit: room)
                : try ledger.queued(entry, atLeast: least, except: ids + ending, limit: room)
            for row in rows {
                let priority = Priority(rank: row.priority)
                outside[entry] = priority
                guard count(entry) < priority.limit(in: size) else { return }
                if let lane = row.lane, turns.room(for: lane) == 0 {
                    turns.close(lane)
                    continue
                }
                guard take(row) else { return }
            }
            if rows.count < room { outside[entry] = Priority.allCases.last { $0 < least } }
        }
    }

    private func take(_ row: JobRecord) -> Bool { delegate?.take(row) ?? false }

    // MARK: - Hosts

    /// Refills full lanes in which downloads have ended.
    private func fillLanes(_ size: Int) throws {
        while !isHeldUp(size), let lane = turns.due.first {
            // The window is full: the lane's rows are found with all others later.
            guard count(.download) < lane.priority.limit(in: size) else {
                turns.open(lane)
                outside[.download] = max(outside[.download] ?? .low, lane.priority)
                continue
            }
            let room = turns.room(for: lane)
            let rows = try ledger.queued(lane, except: ids + ending, limit: room)
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
        let except = ids + ending
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

extension Priority {
    /// How many jobs may be in a window of this size for one of this priority to follow. Each finds room that the lower
    /// ones leave it, and need not wait until these have been worked off: low ones leave some of the window, high ones
    /// go beyond it.
    fileprivate func limit(in size: Int) -> Int {
        let reserve = max(4, size / 8)
        return switch self {
        case .low: max(1, size / 2, size - reserve)
        case .normal: size
        case .high: size + reserve
        }
    }
}
