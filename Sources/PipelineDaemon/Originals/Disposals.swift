import DaemonRuntime
import Dispatch
import Glibc
import InboxWatching
import JobLedger
import PipelineModel
import Synchronization
import SystemCalls

/// Moves the originals of ended jobs to where they belong, and brings them back for another try. Those of an inbox are
/// moved one after the other, behind everything else; one that hangs holds up its own inbox alone. An original that can't
/// be moved stays, says so, and is tried again.
@Coordination
final class Disposals {
    private struct State {
        var lines: [String: DispatchQueue] = [:]
        /// Jobs that have ended and whose original is about to be moved, by their inbox.
        var leaving: [String: [JobRecord]] = [:]
        /// Jobs whose original has been moved, until that is recorded.
        var moved: Set<Int> = []
        /// Jobs whose original can't be moved.
        var stuck: [Int: Stuck] = [:]
        /// The original being moved out of each inbox.
        var moving: [String: Move] = [:]
        /// What is not urgent is left for the next start.
        var isTimeUp = false
    }

    private struct Stuck {
        var inbox: String
        var reason: String
    }

    private struct Move {
        var job: JobRecord
        var since: DispatchTime
    }

    private let ledger: Ledger
    private let places: Places
    private let claims: ClaimFolders
    private let publisher: Publisher
    private let inboxes: Inboxes
    private let waiters: Waiters
    private let reads: RepeatedReads
    private let returns: Returns
    private let state = Mutex(State())
    /// Moves that take too long, by job, with what was said of each.
    private var hanging: [Int: String] = [:]
    /// Called when originals are about to be moved.
    var begins: @Coordination () -> Void = {}

    init(
        _ ledger: Ledger, _ places: Places, _ claims: ClaimFolders, _ publisher: Publisher, _ inboxes: Inboxes,
        _ waiters: Waiters, _ reads: RepeatedReads
    ) {
        (self.ledger, self.places, self.claims, self.publisher) = (ledger, places, claims, publisher)
        (self.inboxes, self.waiters, self.reads) = (inboxes, waiters, reads)
        returns = Returns(ledger, places, claims, publisher)
    }

    /// What has not been moved yet is moved at the next start.
    func leaveRest() { state.withLock { $0.isTimeUp = true } }

    /// Calls `done` when all that is to be moved by now has been.
    nonisolated func whenDisposed(_ done: @escaping @Sendable () -> Void) {
        let group = DispatchGroup()
        for line in state.withLock({ Array($0.lines.values) }) { line.async(group: group) {} }
        group.notify(queue: FileQueue.make(), execute: done)
    }

    /// Moves the original of an ended job, in the background, together with others that end at about the same time.
    func dispose(_ record: JobRecord) {
        let inbox = record.order.inbox
        let isFirst = state.withLock { state in
            state.leaving[inbox, default: []].append(record)
            return state.leaving[inbox]?.count == 1
        }
        guard isFirst else { return }
        line(of: inbox).async { [self] in
            usleep(Self.gathering)
            let gathered = state.withLock { $0.leaving.removeValue(forKey: inbox) } ?? []
            do {
                // The backlog may have come first; and what has been brought back since is not to be moved.
                let left = try ledger.undisposed(gathered.map(\.id))
                move(gathered.filter { left[$0.id] == $0.finished }, of: inbox)
            } catch {
                for record in gathered { stays(record, error) }
            }
        }
    }

    /// How long it is waited for others.
    nonisolated private static let gathering: UInt32 = 20_000  // microseconds

    /// Moves the originals of ended jobs that have not been moved: after a crash, after a cancel of many, and when moving
    /// has failed.
    func disposeBacklog() {
        begins()
        do {
            for inbox in try returns.inboxes.union(ledger.undisposedInboxes()) {
                line(of: inbox).async { [self] in disposeBacklog(of: inbox) }
            }
        } catch {
            reads.missedBacklog()
        }
    }

    /// At the start, the inboxes are open before: they may find the claimed original of an ended job, which is moved as
    /// well. Returns that a crash broke off are undone: nobody was told that they happened.
    func begin() throws {
        try returns.begin()
        for inbox in try returns.inboxes.union(ledger.undisposedInboxes()) {
            inboxes.whenOpened([inbox], on: line(of: inbox)) { [self] in disposeBacklog(of: inbox) }
        }
    }

    // MARK: - Bringing back

    /// Moves the originals to where work begins; `done` with what has become of them.
    func bringBack(_ wanted: [Returns.Wanted], done: @escaping @Coordination @Sendable (Returns.Outcome) -> Void) {
        let result = Mutex(Returns.Outcome())
        let group = DispatchGroup()
        for (inbox, some) in Dictionary(grouping: wanted, by: \.job.order.inbox) {
            group.enter()
            // After the moves under way: an original is brought back from where it has arrived.
            inboxes.whenOpened(Set(some.map(\.order.inbox)), on: line(of: inbox)) { [self] in
                let outcome = returns.takeBack(some)
                if returns.inboxes.contains(inbox) { disposeBacklog(of: inbox) }
                result.withLock { $0.add(outcome) }
                group.leave()
            }
        }
        Coordination.notify(group) { [self] in
            var outcome = result.withLock { $0 }
            outcome.brought.sort { $0.id < $1.id }
            state.withLock { state in for record in outcome.brought { state.stuck[record.id] = nil } }
            done(outcome)
        }
    }

    // MARK: - On the line of an inbox

    nonisolated private func line(of inbox: String) -> DispatchQueue {
        state.withLock { state in
            if let line = state.lines[inbox] { return line }
            let line = DispatchQueue(label: "pipelined.disposal")
            state.lines[inbox] = line
            return line
        }
    }

    nonisolated private func disposeBacklog(of inbox: String) {
        do {
            var left = try endReturns(in: inbox)
            var last = 0
            while case let jobs = try ledger.undisposed(of: inbox, after: last, limit: 200), let end = jobs.last {
                if state.withLock({ $0.isTimeUp }) { return }
                left.formUnion(move(jobs, of: inbox))
                last = end.id
            }
            // The others have been brought back by `pipectl retry`.
            state.withLock { state in
                state.stuck = state.stuck.filter { $0.value.inbox != inbox || left.contains($0.key) }
            }
        } catch {
            Coordination.async { self.reads.missedBacklog() }
        }
    }

    /// Returns the jobs whose original can't be found now.
    nonisolated private func endReturns(in inbox: String) throws -> Set<Int> {
        let (ended, lost) = try returns.end(in: inbox)
        for (job, error) in lost {
            stays(job, because: "its original, which was being brought back, can't be found: \(error)")
        }
        if !ended.isEmpty { Coordination.async { self.waiters.lookUp(ended) } }
        return Set(lost.map(\.job.id))
    }

    /// Moves each once: a second move would meet another file of the same name. Returns the jobs whose original stays.
    @discardableResult
    nonisolated private func move(_ records: [JobRecord], of inbox: String) -> [Int] {
        defer { state.withLock { $0.moving[inbox] = nil } }
        let disposal = Disposal(places: places, claims: Result { try claims.open(inbox) })
        var gone: [(job: JobRecord, source: String)] = []
        var left: [Int] = []
        func stay(_ record: JobRecord, _ error: any Error) {
            state.withLock { _ = $0.moved.remove(record.id) }
            stays(record, error)
            left.append(record.id)
        }
        for record in records {
            let isFirst = state.withLock { state in
                guard state.moved.insert(record.id).inserted else { return false }
                state.moving[inbox] = Move(job: record, since: .now())
                return true
            }
            guard isFirst else { continue }
            do {
                // What was made before a barrier is of use to nobody any more.
                for file in record.staged { try FileSystem.remove(file.path) }
                // A job that is not done has no published results.
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
        let failures = disposal.settle(gone)
        gone.removeAll { record, source in
            guard let error = failures[FileSystem.folder(of: source)] else { return false }
            stay(record, error)
            return true
        }
        if !gone.isEmpty { record(gone) }
        return left
    }

    nonisolated private func record(_ gone: [(job: JobRecord, source: String)]) {
        let over = gone.map(\.job)
        ledger.recordDisposal(of: gone.map { ($0.job.id, $0.source) }) { [self] in
            let litter = over.flatMap { $0.intent?.steps ?? [] }
            if !litter.isEmpty { FileQueue.async { for step in litter { Litter.remove(step.staging) } } }
            state.withLock { $0.moved.subtract(over.map(\.id)) }
            Coordination.async { self.waiters.ended(over) }
        }
        for (record, source) in gone where state.withLock({ $0.stuck.removeValue(forKey: record.id) }) != nil {
            tell(record, "its original could be moved now, to \(source)")
        }
    }

    // MARK: - Originals that stay

    nonisolated private func stays(_ record: JobRecord, _ error: any Error) {
        stays(record, because: "its original stays at \(record.source): \(error)")
    }

    nonisolated private func stays(_ record: JobRecord, because: String) {
        let reason = "\(because); this is tried again"
        let (known, isFirst) = state.withLock { state in
            defer { state.stuck[record.id] = Stuck(inbox: record.order.inbox, reason: reason) }
            return (state.stuck[record.id]?.reason, state.stuck.isEmpty)
        }
        if known != reason {
            Log.failure("job \(record.id): \(reason)", of: LogSubject(record))
            tell(record, reason)
        }
        if isFirst { tryLater() }
        Coordination.async { self.waiters.check() }
    }

    nonisolated private func tryLater() {
        Coordination.after(Shortages.interval) { [self] in
            guard !state.withLock({ $0.stuck.isEmpty }) else { return }
            disposeBacklog()
            tryLater()
        }
    }

    nonisolated private func tell(_ record: JobRecord, _ text: String) {
        ledger.append(.job(record.id, record.state, text))
    }

    /// Why the original of this job stays where it is.
    nonisolated func reason(for job: Int) -> String? { state.withLock { $0.stuck[job]?.reason } }

    /// Says what holds up originals, among these jobs or all.
    func holdUp(among ids: Set<Int>? = nil) -> [String] {
        [stuckText(among: ids), hangText(among: ids)].compactMap(\.self)
    }

    private func stuckText(among ids: Set<Int>?) -> String? {
        let stays = state.withLock { $0.stuck }.filter { ids?.contains($0.key) != false }
        guard let first = stays.min(by: { $0.key < $1.key }) else { return nil }
        return "job \(first.key): \(first.value.reason)\(stays.count > 1 ? " (and \(stays.count - 1) more)" : "")"
    }

    // MARK: - Moves that hang

    var movesSome: Bool { state.withLock { !$0.moving.isEmpty } }

    /// Reports, once, each original whose move began before `latest`.
    func lookForHangs(since latest: DispatchTime) {
        for move in state.withLock({ Array($0.moving.values) }) where move.since < latest && hanging[move.job.id] == nil
        {
            let (job, source) = (move.job, move.job.source)
            let target = Disposal.goal(of: job, places)
            let reason = "its original is being moved from \(source) to \(target), and the disk does not answer"
            hanging[job.id] = reason
            Log.failure("job \(job.id): \(reason)", of: LogSubject(job))
            tell(job, reason)
            waiters.check()
        }
    }

    private func hangText(among ids: Set<Int>?) -> String? {
        let moves = state.withLock { $0.moving.values.map(\.job) }
        hanging = hanging.filter { job, _ in moves.contains { $0.id == job } }
        // Jobs behind it in the same inbox wait as well.
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
