package import DaemonRuntime
package import Dispatch
import Glibc
package import InboxWatching
import JobLedger
package import JobModel
import PipelineModel
import ServiceProgram
import Synchronization
import SystemCalls

/// Receives reports about the mover's progress, and opens inboxes for the mover.
@Coordination
package protocol OriginalMoverDelegate: AnyObject {
    /// How long a move may take before it is reported.
    var hangTimeout: Duration { get }
    /// Called when the originals of these ended jobs have reached their final places, and the ledger has recorded the
    /// moves.
    func originalsArrived(of jobs: [JobRecord])
    /// Called when an attempt to bring these jobs back has failed or was interrupted, and has been undone.
    func returnsUndone(of jobs: Set<Int>)
    /// Called when the reasons why originals can't be moved have changed.
    func delaysChanged()
    /// Called when the ledger could not list the originals that still have to be moved.
    func backlogUnread()
    /// Runs `body` on `line` once these inboxes are open. Before that, claimed files of these inboxes may be missing
    /// from the ledger.
    func whenOpened(_ inboxes: Set<String>, on line: DispatchQueue, _ body: @escaping @Sendable () -> Void)
}

/// Moves the originals of ended jobs to their final places, and brings originals back for another attempt. Each inbox
/// has its own queues, so a hanging disk blocks only the inboxes on that disk. If an original can't be moved, it stays
/// where it is. The mover then reports the reason, and retries the move.
@Coordination
package final class OriginalMover {
    /// The queues of an inbox: `moves` for the originals of ended jobs, and `returns` for originals that are brought
    /// back. Both may run at the same time, because they never move the same original.
    private struct Line {
        let moves = DispatchQueue(label: "pipelined.disposal")
        let returns = DispatchQueue(label: "pipelined.return")
    }

    private struct State {
        var lines: [String: Line] = [:]
        /// Ended jobs, by inbox, whose originals are about to be moved.
        var leaving: [String: [JobRecord]] = [:]
        /// Once true, the remaining originals are left for the next start.
        var isTimeUp = false
    }

    private let ledger: Ledger
    package let moves: OriginalMoves
    package let stuck: StuckOriginals
    private let returns: Returns
    private let withdrawals: Withdrawals
    private let state = Mutex(State())
    package weak var delegate: (any OriginalMoverDelegate)? {
        didSet { (moves.delegate, stuck.delegate) = (delegate, delegate) }
    }

    package init(_ originals: OriginalPlaces, _ claims: ClaimFolders, _ publisher: Publisher, _ staging: Staging) {
        ledger = originals.ledger
        stuck = StuckOriginals(ledger)
        moves = OriginalMoves(ledger, originals.places, claims, publisher, stuck)
        returns = Returns(originals, publisher)
        withdrawals = Withdrawals(ledger: ledger, check: DoneCheck(originals: originals), staging: staging)
        stuck.tryAgain = { [weak self] in self?.disposeBacklog() }
    }

    /// From now on, leaves the remaining originals for the next start.
    package func leaveRest() { state.withLock { $0.isTimeUp = true } }

    /// Calls `done` once all pending moves are made and recorded, and the withdrawn results of undone jobs are deleted.
    package nonisolated func whenDisposed(_ done: @escaping @Sendable () -> Void) {
        let group = DispatchGroup()
        for line in state.withLock({ Array($0.lines.values) }) {
            line.moves.async(group: group) { line.returns.async(group: group) {} }
        }
        Coordination.notify(group) { [self] in
            FileLanes.ledger.async { [self] in
                _ = ledger.flush(seconds: 10)
                moves.whenDiscarded(done)
            }
        }
    }

    /// Moves the original of an ended job in the background, together with the originals of other jobs that end at
    /// about the same time.
    package func dispose(_ record: JobRecord) {
        let inbox = record.order.inbox
        let isFirst = state.withLock { state in
            state.leaving[inbox, default: []].append(record)
            return state.leaving[inbox]?.count == 1
        }
        guard isFirst else { return }
        line(of: inbox).moves.async { [self] in
            usleep(Self.gathering)
            let gathered = state.withLock { $0.leaving.removeValue(forKey: inbox) } ?? []
            do {
                // `disposeBacklog` may have moved some of these originals already, and a retry may have brought others
                // back.
                let left = try ledger.undisposed(gathered.map(\.id))
                moves.move(gathered.filter { left[$0.id] == $0.finished }, of: inbox)
            } catch {
                for record in gathered { stuck.add(record, error) }
            }
        }
    }

    /// How long to wait for more jobs to end, so that their originals are moved together.
    nonisolated private static let gathering: UInt32 = 20_000  // microseconds

    /// Moves every original that belongs to an ended job and is not in its final place yet, for example after a crash,
    /// a bulk cancellation or a failed move.
    package func disposeBacklog() {
        do {
            for inbox in try inboxesWithBacklog() {
                line(of: inbox).moves.async { [self] in disposeBacklog(of: inbox) }
            }
        } catch {
            delegate?.backlogUnread()
        }
    }

    /// Moves the backlog at startup. Waits until each inbox is open, because opening an inbox may reveal the claimed
    /// original of an ended job, and this original must be moved as well. If a crash has interrupted an attempt to
    /// bring a job back, the job keeps its old state, because no client was told that the job is back.
    package func begin() throws {
        try returns.begin()
        for inbox in try inboxesWithBacklog() {
            delegate?.whenOpened([inbox], on: line(of: inbox).moves) { [self] in disposeBacklog(of: inbox) }
        }
    }

    private func inboxesWithBacklog() throws -> Set<String> { try returns.inboxes.union(ledger.undisposedInboxes()) }

    // MARK: - Bringing back

    /// Moves the originals back to the folders where processing starts, then calls `done` with the outcome. The
    /// moves run on a queue of their own, so that the caller can prepare the jobs of the next request meanwhile.
    package func bringBack(
        _ wanted: [Returns.Wanted], done: @escaping @Coordination @Sendable (Returns.Outcome) -> Void
    ) {
        let result = Mutex(Returns.Outcome())
        let group = DispatchGroup()
        for (inbox, some) in Dictionary(grouping: wanted, by: \.job.order.inbox) {
            group.enter()
            let line = line(of: inbox)
            // Runs after the moves under way: an original must have reached its final place before it can be brought
            // back from there.
            delegate?.whenOpened(Set(some.map(\.order.inbox)), on: line.moves) { [self] in
                // `prepare` reads these jobs from the ledger, so the ledger must contain the latest moves.
                if moves.areUnrecorded(of: some.map(\.job.id)) { _ = ledger.flush(seconds: 10) }
                let prepared = returns.prepare(some)
                line.returns.async { [self] in
                    let outcome = returns.takeBack(prepared)
                    result.withLock { $0.add(outcome) }
                    if returns.inboxes.contains(inbox) {
                        line.moves.async(group: group) { [self] in disposeBacklog(of: inbox) }
                    }
                    group.leave()
                }
            }
        }
        Coordination.notify(group) { [self] in
            var outcome = result.withLock { $0 }
            outcome.brought.sort { $0.id < $1.id }
            stuck.forget(outcome.brought.map(\.id))
            done(outcome)
        }
    }

    /// Withdraws the results of done jobs and moves their originals, then calls `done`. Does not wait for originals
    /// that can't be moved.
    package func undo(
        _ jobs: [JobRecord], to goal: String?,
        done: @escaping @Coordination @Sendable (Withdrawals.Outcome) -> Void
    ) {
        let result = Mutex(Withdrawals.Outcome())
        let group = DispatchGroup()
        for (inbox, some) in Dictionary(grouping: jobs, by: \.order.inbox) {
            group.enter()
            delegate?.whenOpened([inbox], on: line(of: inbox).moves) { [self] in
                let ids = some.map(\.id)
                if moves.areUnrecorded(of: ids) { _ = ledger.flush(seconds: 10) }
                let outcome = withdrawals.undo(ids, to: goal)
                disposeBacklog(of: inbox)
                result.withLock { $0.add(outcome) }
                group.leave()
            }
        }
        Coordination.notify(group) { done(result.withLock { $0 }) }
    }

    // MARK: - On the queues of an inbox

    nonisolated private func line(of inbox: String) -> Line {
        state.withLock { state in
            if let line = state.lines[inbox] { return line }
            let line = Line()
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
                left.formUnion(moves.move(jobs, of: inbox))
                last = end.id
            }
            // All other originals of this inbox are no longer stuck: `pipectl retry` has brought them back.
            stuck.keep(left, of: inbox)
        } catch {
            Coordination.async { self.delegate?.backlogUnread() }
        }
    }

    /// Undoes failed and interrupted attempts to bring an inbox's originals back. Returns the jobs whose original can't
    /// be found now.
    nonisolated private func endReturns(in inbox: String) throws -> Set<Int> {
        let (ended, lost) = try returns.end(in: inbox)
        for (job, error) in lost {
            stuck.add(job, because: "its original, which was being brought back, can't be found: \(error)")
        }
        if !ended.isEmpty { Coordination.async { self.delegate?.returnsUndone(of: ended) } }
        return Set(lost.map(\.job.id))
    }

    // MARK: - Delays

    /// Why the original of this job stays where it is.
    package nonisolated func reason(for job: Int) -> String? { stuck.reason(for: job) }

    /// The reasons why originals of these jobs, or of any jobs if `ids` is nil, have not been moved yet.
    package func delays(among ids: Set<Int>? = nil) -> [String] {
        [stuck.text(among: ids), moves.hangText(among: ids)].compactMap(\.self)
    }
}
