package import DaemonRuntime
package import Dispatch
package import InboxWatching
package import JobLedger
package import JobModel
import PipelineModel
import ServiceProgram
import Synchronization
import SystemCalls
import WorkerPools

/// Moves the original of each ended job once, and reports moves that hang.
@Coordination
package final class OriginalMoves {
    private struct State {
        /// Jobs whose original is being moved or has been moved. A job is removed when the ledger has recorded the
        /// move.
        var moved: Set<Int> = []
        /// The move under way in each inbox.
        var moving: [String: Move] = [:]
        /// Whether the moves under way are checked at intervals.
        var isWatched = false
    }

    private struct Move {
        var job: JobRecord
        var since: DispatchTime
    }

    private let ledger: Ledger
    private let places: Places
    private let claims: ClaimFolders
    private let publisher: Publisher
    private let stuck: StuckOriginals
    private let state = Mutex(State())
    private let discards = DispatchGroup()
    /// The reported reason of each move that takes too long, by job.
    private var hanging: [Int: String] = [:]
    package weak var delegate: (any OriginalMoverDelegate)?

    package init(
        _ ledger: Ledger, _ places: Places, _ claims: ClaimFolders, _ publisher: Publisher, _ stuck: StuckOriginals
    ) {
        (self.ledger, self.places, self.claims) = (ledger, places, claims)
        (self.publisher, self.stuck) = (publisher, stuck)
    }

    // MARK: - On the queues of an inbox

    /// Moves each original only once, because a second move could find another file at the same path. Returns the jobs
    /// whose original could not be moved.
    @discardableResult
    package nonisolated func move(_ records: [JobRecord], of inbox: String) -> [Int] {
        defer { state.withLock { $0.moving[inbox] = nil } }
        let disposal = Disposal(places: places, claims: Result { try claims.open(inbox) })
        var gone: [(job: JobRecord, source: String)] = []
        var left: [Int] = []
        func stay(_ record: JobRecord, _ error: any Error) {
            state.withLock { _ = $0.moved.remove(record.id) }
            stuck.add(record, error)
            left.append(record.id)
        }
        for record in records where begin(record, of: inbox) {
            do {
                // The intermediate pictures from before a barrier are no longer needed.
                for file in record.staged { try FileSystem.remove(file.path) }
                // Withdraws the job's results from the outbox, if there are any. A job has an intent only if it has not
                // published its results, or if it was undone.
                if let intent = record.intent { try publisher.takeBack(intent) }
                let source = try disposal.dispose(record)
                if source == nil {
                    Log.failure(
                        "job \(record.id): its original is gone: it is not at \(record.source) any more",
                        of: LogSubject(record))
                }
                gone.append((record, source ?? record.source))
            } catch {
                stay(record, error)
            }
        }
        let failures = disposal.finish(gone)
        gone.removeAll { record, source in
            guard let error = failures[FileSystem.folder(of: source)] else { return false }
            stay(record, error)
            return true
        }
        if !gone.isEmpty { record(gone, disposal) }
        return left
    }

    /// Returns false if the original has been moved already.
    nonisolated private func begin(_ record: JobRecord, of inbox: String) -> Bool {
        state.withLock { state in
            guard state.moved.insert(record.id).inserted else { return false }
            state.moving[inbox] = Move(job: record, since: .now())
            if !state.isWatched {
                state.isWatched = true
                Coordination.async { [self] in watch() }
            }
            return true
        }
    }

    /// Calls `done` once the withdrawn results of undone jobs are deleted.
    nonisolated func whenDiscarded(_ done: @escaping @Sendable () -> Void) {
        Coordination.notify(discards, done)
    }

    /// Whether any of these jobs has a move that is not recorded yet.
    nonisolated func areUnrecorded(of jobs: [Int]) -> Bool { state.withLock { !$0.moved.isDisjoint(with: jobs) } }

    nonisolated private func record(_ gone: [(job: JobRecord, source: String)], _ disposal: Disposal) {
        let over = gone.map(\.job)
        let kept = gone.compactMap { job, source in disposal.kept(job, source).map { (job.id, $0) } }
        ledger.recordDisposal(
            of: gone.map { ($0.job.id, $0.source) }, keeping: Dictionary(kept, uniquingKeysWith: { first, _ in first })
        ) { [self] in
            state.withLock { $0.moved.subtract(over.map(\.id)) }
            let steps = over.flatMap { $0.intent?.steps ?? [] }
            if !steps.isEmpty {
                discards.enter()
                FileLanes.work(on: steps[0].staging).async { [discards] in
                    for step in steps { UnneededFile.remove(step.staging) }
                    discards.leave()
                }
            }
            Coordination.async { [self] in delegate?.originalsArrived(of: over) }
        }
        for (record, source) in gone { stuck.moved(record, to: source) }
    }

    // MARK: - Moves that hang

    /// Whether any original is being moved.
    package var areUnderWay: Bool { state.withLock { !$0.moving.isEmpty } }

    /// Checks the moves at intervals until none is under way.
    private func watch() {
        guard let timeout = delegate?.hangTimeout else { return }
        Coordination.after(timeout) { [self] in
            lookForHangs(since: .now() - timeout.dispatch)
            let goesOn = state.withLock { state in
                state.isWatched = !state.moving.isEmpty
                return state.isWatched
            }
            if goesOn { watch() }
        }
    }

    /// Reports each original whose move began before `latest` and has not finished. Reports each original only once.
    package func lookForHangs(since latest: DispatchTime) {
        for move in state.withLock({ Array($0.moving.values) }) where move.since < latest && hanging[move.job.id] == nil
        {
            let (job, source) = (move.job, move.job.source)
            let goal = job.removesOriginal ? "nowhere" : Disposal.goal(of: job, places)
            let reason = "its original is being moved from \(source) to \(goal), and the disk does not answer"
            hanging[job.id] = reason
            Log.failure("job \(job.id): \(reason)", of: LogSubject(job))
            ledger.append(.job(job.id, job.state, reason))
            delegate?.delaysChanged()
        }
    }

    /// Describes the first hanging move that holds up these jobs, or any job if `ids` is nil.
    package func hangText(among ids: Set<Int>?) -> String? {
        let moves = state.withLock { $0.moving.values.map(\.job) }
        hanging = hanging.filter { job, _ in moves.contains { $0.id == job } }
        // A hanging move also holds up the jobs whose originals wait behind it, in the same inbox.
        let first = moves.filter { job in hanging[job.id] != nil && ids.map { waitsBehind(job, $0) } != false }
            .min { $0.id < $1.id }
        return first.flatMap { job in hanging[job.id].map { "job \(job.id): \($0)" } }
    }

    private func waitsBehind(_ job: JobRecord, _ ids: Set<Int>) -> Bool {
        if ids.contains(job.id) { return true }
        return ((try? ledger.jobs(Array(ids.sorted().prefix(50)))) ?? []).contains {
            $0.state.isFinal && $0.order.inbox == job.order.inbox
        }
    }
}
