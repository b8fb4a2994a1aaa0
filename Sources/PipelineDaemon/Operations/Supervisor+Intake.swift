import DaemonRuntime
import Dispatch
import InboxWatching
import PipelineModel
import SystemCalls

/// Taking files in: each becomes a record, and a job once that is durable.
extension Supervisor {
    nonisolated func accept(
        _ claims: [Claim], from inbox: Inbox, counted: @escaping @Sendable () -> Void,
        done: @escaping @Sendable () -> Void
    ) {
        let lists = claims.filter { FileNames.isList($0.path) && !$0.cancelled }
        let claims = claims.filter { !FileNames.isList($0.path) || $0.cancelled }
        guard lists.isEmpty else { return accept(lists, and: claims, from: inbox, counted: counted, done: done) }
        Coordination.async { [self] in
            let order = current.order(for: inbox.recipe, places)
            let now = Timestamp.now()
            let records = claims.map { claim in
                newRecord(
                    order: order, path: claim.path, source: claim.source, origin: claim.origin, file: claim.file,
                    state: claim.cancelled ? .cancelled : .queued, at: now)
            }
            enter(records, done: done)
            counted()
        }
    }

    func newRecord(
        order: WorkOrder, path: String, source: String, origin: JobRecord.Origin, file: FileStatus.Identity,
        batch: Int? = nil, state: JobState = .queued, at now: Double
    ) -> JobRecord {
        defer {
            nextID += 1
            nextPosition += 1
        }
        return JobRecord(
            id: nextID, position: nextPosition, batch: batch, order: order, path: path, origin: origin, source: source,
            file: file, state: state, created: now, finished: state.isFinal ? now : nil,
            priority: order.priority.rank)
    }

    /// Records new jobs; `done` when they are durable. One that the ledger refuses is no job: its file stays claimed, and is taken in at
    /// the next start.
    func enter(
        _ records: [JobRecord], _ listed: ListedJobs? = nil, batch: BatchRecord? = nil,
        done: @escaping @Sendable () -> Void, refused: (@Sendable () -> Void)? = nil
    ) {
        count(records, listed, 1)
        ledger.insert(records, listed, batch: batch) { [self] in
            done()
            Coordination.async { [self] in
                for record in records where record.state.isFinal && !record.disposed { dispose(record) }
                let ranks = records.map(\.priority) + [listed?.priority.rank].compactMap(\.self)
                if let highest = ranks.max() { fill(arrived: Priority(rank: highest)) }
            }
        } refused: { [self] in
            Coordination.async { [self] in
                count(records, listed, -1)
                let records = records + (listed.map { listed in (0..<listed.count).map(listed.record) } ?? [])
                guard records.count > 1 else {
                    Log.failure("\(records.first?.source ?? "") stays there, and is taken in at the next start")
                    checkWaiters()
                    return (refused ?? done)()
                }
                // Only the one at fault is left out.
                let group = DispatchGroup()
                for record in records {
                    group.enter()
                    enter([record], batch: batch) { group.leave() }
                }
                Coordination.notify(group, done)
            }
        }
    }

    private func count(_ records: [JobRecord], _ listed: ListedJobs?, _ sign: Int) {
        for record in records { counts[record.state, default: 0] += sign }
        guard let listed else { return }
        let wrong = listed.wrong
        counts[.queued, default: 0] += sign * (listed.count - wrong)
        counts[.failed, default: 0] += sign * wrong
    }

    nonisolated func knows(source: String) throws -> Bool { try ledger.knows(source: source) }

    nonisolated func needsClaims(in folder: String) throws -> Bool { try ledger.needsClaims(in: folder) }

    nonisolated func kept(in folder: String) throws -> KeptFiles { try ledger.kept(in: folder) }

    nonisolated func changed(_ inbox: Inbox) {
        Coordination.async { [self] in
            checkWaiters()
            checkWatching()
            tellChange()
        }
    }

    /// Calls `done` when each inbox is watched, or has said why it can't be. One that does not answer is not waited for for long.
    nonisolated func whenWatching(_ done: @escaping @Sendable () -> Void) {
        Coordination.async { [self] in
            whenWatching = done
            checkWatching()
            Coordination.after(settings.hangTimeout) { [self] in
                guard whenWatching != nil else { return }
                for inbox in inboxes where !inbox.report.isOpen {
                    Log.failure(
                        "inbox \(inbox.folder) does not answer; it is watched as soon as it does",
                        of: LogSubject(recipe: inbox.recipe.name))
                }
                watching()
            }
        }
    }

    private func checkWatching() {
        if whenWatching != nil, inboxes.allSatisfy(\.report.isOpen) { watching() }
    }

    private func watching() {
        isReady = true
        whenWatching?()
        whenWatching = nil
        applyLimits()
    }
}
