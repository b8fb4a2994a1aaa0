import DaemonConfiguration
package import DaemonRuntime
import JobLedger
import JobModel
import OperationGraph
import PipelineModel

/// Makes a job of each row that enters the window.
@Coordination
protocol JobQueueDelegate: AnyObject {
    /// Makes a job of the row. Returns false if the window should take no more rows for now.
    func take(_ row: JobRecord) -> Bool
}

/// Holds the window: the jobs that are loaded in memory and have operations. All other jobs exist only as rows of the
/// ledger. The job queue fills the window with these rows, in the order of priority and position. The window has
/// separate room for jobs that start with a download and jobs that start with rendering.
@Coordination
package final class JobQueue {
    let ledger: Ledger
    let configuration: ConfigurationInForce
    private let queues: Queues
    let reads: RepeatedReads
    weak var delegate: (any JobQueueDelegate)?

    package private(set) var counts = JobCounts()
    var numbers = JobNumbers()
    package nonisolated let meters = Meters()
    package nonisolated let progress = ProgressBoard()

    private var jobs: [Int: Job] = [:]
    /// Number of jobs in the window, by the queue in which they start.
    private var begun: [FirstQueue: Int] = [:]
    /// Jobs that have left the window, but whose new state is not recorded yet.
    private var ending: Set<Int> = []
    /// For each queue, the highest priority that a queued row outside the window may have. No entry means that no
    /// queued row is outside the window.
    private var outside: [FirstQueue: Priority] = [.download: .high, .render: .high]
    private var turns = WindowTurns()
    /// Number of bulk changes in progress. No row enters the window until all of them have ended.
    private var suspensions = 0
    private var isClosed = false

    /// Calls `queueDue` when the earliest retry is due.
    private(set) lazy var nextRetry = Appointment { [unowned self] in queueDue(setBack: $0) }

    init(_ ledger: Ledger, _ configuration: ConfigurationInForce, _ queues: Queues) {
        (self.ledger, self.configuration, self.queues) = (ledger, configuration, queues)
        reads = RepeatedReads(ledger)
    }

    /// Continues the numbers of jobs, positions and batches after the highest numbers in the ledger.
    func begin(after highest: (id: Int, position: Int, batch: Int)) { numbers.begin(after: highest) }
    func begin(with counts: [JobState: Int]) { self.counts = JobCounts(counts) }

    package func takeBatch() -> Int { numbers.takeBatch() }
    package func knows(batch: Int) -> Bool { numbers.knows(batch: batch) }

    // MARK: - Counts

    /// Counts new jobs in this state.
    func add(_ count: Int, to state: JobState) { counts.add(count, to: state) }
    func add(_ changes: [JobState: Int], times factor: Int = 1) { counts.add(changes, times: factor) }

    func move(_ count: Int = 1, from old: JobState, to new: JobState) { counts.move(count, from: old, to: new) }

    // MARK: - Jobs

    package subscript(id: Int) -> Job? { jobs[id] }
    package var all: some Collection<Job> { jobs.values }
    var ids: [Int] { Array(jobs.keys) }
    var count: Int { jobs.count }
    var isEmpty: Bool { jobs.isEmpty }
    /// Whether the new state of every job that has left the window is recorded.
    var isRecorded: Bool { ending.isEmpty }

    func enter(_ job: Job) {
        jobs[job.record.id] = job
        begun[job.entry, default: 0] += 1
        if job.countsInLane { turns[job.entry].enter(job.lane) }
        progress.entered(job)
    }

    func leave(_ job: Job) {
        guard jobs.removeValue(forKey: job.record.id) != nil else { return }
        begun[job.entry, default: 0] -= 1
        if job.entry == .render { turns[.render].leave(job.lane) }
    }

    /// Prevents the window from reading the row again until `finishEnding` is called. By then, the ledger has recorded
    /// the row's new state.
    func beginEnding(_ id: Int) { ending.insert(id) }

    /// Allows the window to read the row again. `arrived` is the row's priority if the row is queued again, and
    /// otherwise nil.
    func finishEnding(_ id: Int, arrived: Priority? = nil) {
        ending.remove(id)
        fill(arrived: arrived)
    }

    /// Notes that the job's download has ended, which makes room for another download from its host.
    func downloaded(_ job: Job) {
        turns[.download].leave(job.lane)
        if turns[.download].due.contains(job.lane) { fill(arrived: nil) }
    }

    // MARK: - Rows

    /// Stops taking rows into the window until `resumeFilling` has been called as often as `suspendFilling`.
    func suspendFilling() { suspensions += 1 }

    func resumeFilling(arrived: Priority? = .high) {
        suspensions -= 1
        fill(arrived: arrived)
    }

    /// Stops taking rows into the window for good.
    func close() { isClosed = true }

    /// Notes that the ledger has queued `count` waiting rows again, and fills the window.
    func cameBack(_ count: Int) {
        counts.move(count, from: .waiting, to: .queued)
        fill()
    }

    /// Sets the lanes' shares of the window. The share of a host's downloads depends on `PerHost=`, the
    /// maximum number of simultaneous downloads from a host.
    func adopt(_ settings: Settings) {
        let (perHost, half) = (settings.downloads.perHost, settings.window / 2)
        turns[.download].share = min(max(8, 2 * perHost), max(perHost, half))
        turns[.render].share = max(8, half)
    }

    /// Takes newly inserted rows into the window. Rows that precede all rows outside the window enter immediately. The
    /// window reads the other rows from the ledger later, when it has room.
    func fill(inserted rows: [JobRecord]) {
        var left: Priority?
        for row in rows where row.state == .queued && (left != nil || !takeAtOnce(row)) {
            left = max(left ?? .low, Priority(rank: row.priority))
        }
        fill(arrived: left)
    }

    /// Takes the row into the window if it may enter immediately. Returns true if the row need not be read from the
    /// ledger, because the row is in the window or has just left it. Downloads never enter immediately: the window
    /// reads downloads by host.
    private func takeAtOnce(_ row: JobRecord) -> Bool {
        if jobs[row.id] != nil || ending.contains(row.id) { return true }
        let room = WindowRoom(size: configuration.settings.window)
        let priority = Priority(rank: row.priority)
        guard row.entry == .render, mayTake(.render), outside[.render].map({ $0 < priority }) ?? true,
            count(.render) < room.limit(of: priority), !room.isBlocked(by: ending.count),
            turns[.render].room(for: row.lane) > 0
        else { return false }
        followProcessors()
        return take(row)
    }

    private func followProcessors() {
        queues.followProcessors { [weak self] in self.map { !$0.isEmpty && !$0.isClosed } ?? false }
    }

    private func mayTake(_ entry: FirstQueue) -> Bool { !isClosed && suspensions == 0 && !queues[entry].report.paused }

    /// Takes rows into the window while it has room. `arrived` is the highest priority of rows that may have joined the
    /// queue; nil if no row has joined.
    func fill(arrived: Priority? = .high) {
        for entry in FirstQueue.allCases { fill(entry, arrived: arrived) }
    }

    private func fill(_ entry: FirstQueue, arrived: Priority?) {
        let known = outside[entry]
        outside[entry] = [known, arrived].compactMap(\.self).max()
        guard mayTake(entry) else { return }
        let room = WindowRoom(size: configuration.settings.window)
        do {
            try fillLanes(of: entry, room)
            guard let highest = outside[entry] else { return }
            followProcessors()
            let isNews = known.map { $0 < highest } ?? true
            guard isNews || count(entry) <= room.limit(of: highest) - room.portion else { return }
            try fillFromOutside(entry, room)
        } catch {
            // The ledger has logged the error, and `reads` retries.
        }
    }

    private func count(_ entry: FirstQueue) -> Int { begun[entry] ?? 0 }

    private func fillFromOutside(_ entry: FirstQueue, _ room: WindowRoom) throws {
        while let highest = outside[entry], count(entry) < room.limit(of: highest), !room.isBlocked(by: ending.count) {
            let here = count(entry)
            let least = room.lowest(beside: here) ?? highest
            let limit = min(256, room.limit(of: highest) - here)
            let rows =
                turns[entry].full.isEmpty
                ? try ledger.queued(entry, atLeast: least, except: ids + ending, limit: limit)
                : try turns[entry].rows(of: ledger, atLeast: least, except: ids + ending, limit: limit)
            for row in rows {
                let priority = Priority(rank: row.priority)
                outside[entry] = priority
                guard count(entry) < room.limit(of: priority) else { return }
                guard turns[entry].room(for: row.lane) > 0 else {
                    turns[entry].close(row.lane)
                    continue
                }
                guard take(row) else { return }
            }
            if rows.count < limit { outside[entry] = Priority.allCases.last { $0 < least } }
        }
    }

    private func take(_ row: JobRecord) -> Bool { delegate?.take(row) ?? false }

    /// Refills full lanes in which jobs have ended.
    private func fillLanes(of entry: FirstQueue, _ room: WindowRoom) throws {
        while !room.isBlocked(by: ending.count), let lane = turns[entry].due.first {
            // The window is full, so it leaves the lane's rows to a later query for all lanes.
            guard count(entry) < room.limit(of: lane.priority) else {
                turns[entry].open(lane)
                outside[entry] = max(outside[entry] ?? .low, lane.priority)
                continue
            }
            let limit = turns[entry].room(for: lane)
            let rows = try ledger.queued(lane, except: ids + ending, limit: limit)
            for row in rows {
                guard take(row) else { return }
            }
            if rows.count < limit { turns[entry].open(lane) } else { turns[entry].close(lane) }
        }
    }
}
