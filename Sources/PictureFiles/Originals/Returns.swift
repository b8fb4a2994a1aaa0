import Glibc
import InboxWatching
import JobLedger
package import JobModel
package import PipelineModel
import ServiceProgram
import Synchronization
import SystemCalls
import WorkerPools

/// Brings originals back to the folders where processing starts. Undoes attempts that failed or that a crash
/// interrupted. The job's row records the target path before the move, so no other code touches the job during the
/// move.
///
/// `prepare` and `end` run on the queue `moves` of an inbox, and `takeBack` runs on its queue `returns` (see
/// `OriginalMover`).
package final class Returns: Sendable {
    /// A job to be brought back, with its new work order.
    package struct Wanted: Sendable {
        package var job: JobRecord
        package var order: WorkOrder
        /// The job is brought back only from these states.
        package var states: [JobState] = [.failed, .cancelled]

        package init(job: JobRecord, order: WorkOrder, states: [JobState] = [.failed, .cancelled]) {
            (self.job, self.order, self.states) = (job, order, states)
        }
    }

    /// The outcome of a request to bring jobs back.
    package struct Outcome: Sendable {
        package var brought: [JobRecord] = []
        /// Jobs that another request has brought back, or is bringing back.
        package var others: [Int] = []
        package var lost: [(job: Int, why: any Error)] = []

        package mutating func add(_ outcome: Outcome) {
            brought += outcome.brought
            others += outcome.others
            lost += outcome.lost
        }
    }

    /// Jobs whose rows record the target paths of their originals. No other code touches these jobs until their
    /// originals have been moved.
    struct Prepared: Sendable {
        fileprivate let originals: OriginalPlaces
        fileprivate var jobs: [(record: JobRecord, order: WorkOrder, start: String)] = []
        fileprivate var outcome = Outcome()

        fileprivate init(originals: OriginalPlaces) { self.originals = originals }
    }

    private let ledger: Ledger
    private let originals: OriginalPlaces
    private let publisher: Publisher
    /// Jobs, by inbox, for which the attempt to bring them back failed or was interrupted. Each job is listed until its
    /// original is located.
    private let unfinished = Mutex<[String: Set<Int>]>([:])

    package init(_ originals: OriginalPlaces, _ publisher: Publisher) {
        (ledger, self.originals, self.publisher) = (originals.ledger, originals, publisher)
    }

    /// Adds to `unfinished` the jobs that the daemon was bringing back when it stopped.
    package func begin() throws {
        for job in try ledger.returning() { leaveUnfinished(job) }
    }

    /// The inboxes of the jobs in `unfinished`.
    package var inboxes: Set<String> { unfinished.withLock { Set($0.keys) } }

    /// Records the target paths of the originals that can be brought back.
    func prepare(_ wanted: [Wanted]) -> Prepared {
        var prepared = Prepared(originals: originals.openingOnce())
        let originals = prepared.originals
        let records = Result { try ledger.current(wanted.map(\.job)) }
        // If this query fails, `start` queries the ledger for each job separately, so that one failing query affects
        // only one job.
        let free = (try? originals.free(wanted.map { ($0.job, $0.order) })) ?? []
        var taken: Set<String> = []
        for one in wanted {
            do {
                guard var record = try records.get()[one.job.id] else {
                    throw JobFailure("there is no such job any more")
                }
                guard one.states.contains(record.state), record.returns == nil else {
                    prepared.outcome.others.append(record.id)
                    continue
                }
                if let removed = record.removed { throw JobFailure("its original was \(removed.text)") }
                if !record.needsDownload {
                    guard let file = try originals.status(record.source, of: record) else {
                        throw SystemError("open", record.source, code: ENOENT)
                    }
                    // The original of a failed job may have changed, because a user may have repaired it. The original
                    // of a done job must still be the file from which the results were made.
                    guard record.state != .done || record.isUnchangedOriginal(file.identity) else {
                        throw JobFailure(DoneCheck.otherFile)
                    }
                    record.file = file.identity
                }
                // Withdraws the results of the old intent, because the intent belongs to the old work order, and the
                // next attempt follows a new work order.
                if let intent = record.intent { try publisher.takeBack(intent) }
                let start = try originals.start(of: record, for: one.order, except: taken, free: free)
                taken.insert(start)
                prepared.jobs.append((record, one.order, start))
            } catch {
                prepared.outcome.lost.append((one.job.id, error))
            }
        }
        let begun = ledger.begin(
            prepared.jobs.map {
                Ledger.Return(
                    job: $0.record.id, place: $0.start, state: $0.record.state, file: $0.record.file)
            })
        if begun.count < prepared.jobs.count {
            prepared.outcome.others += prepared.jobs.map(\.record.id).filter { !begun.contains($0) }
            prepared.jobs.removeAll { !begun.contains($0.record.id) }
        }
        return prepared
    }

    /// Moves the originals to their recorded target paths.
    func takeBack(_ prepared: Prepared) -> Outcome {
        var outcome = prepared.outcome
        for (record, order, start) in prepared.jobs {
            take(record, order, to: start, prepared.originals, &outcome)
        }
        makeDurable(&outcome)
        let left = Set(prepared.jobs.lazy.map { FileSystem.folder(of: $0.record.source) })
        for folder in left { originals.places.removeEmptyFolders(ofKept: folder) }
        return outcome
    }

    /// Undoes the failed or interrupted attempts to bring back jobs of an inbox. `ended` contains all these jobs.
    /// `lost` contains the jobs among them whose original can't be found now.
    package func end(in inbox: String) throws -> (ended: Set<Int>, lost: [(job: JobRecord, why: any Error)]) {
        let wanted = unfinished.withLock { $0[inbox] ?? [] }
        var ended: Set<Int> = []
        var lost: [(job: JobRecord, why: any Error)] = []
        for job in try ledger.jobs(wanted.sorted()) where job.returns != nil {
            ended.insert(job.id)
            do {
                try end(job)
            } catch {
                lost.append((job, error))
            }
        }
        unfinished.withLock { $0[inbox] = lost.isEmpty ? nil : Set(lost.map(\.job.id)) }
        return (ended, lost)
    }

    private func end(_ job: JobRecord) throws {
        guard !job.needsDownload, job.origin != .kept, let place = job.returns, place != job.source,
            try originals.place(of: job, among: [place, job.source]) == place
        else {
            try removeCopy(of: job)
            return ledger.abandonReturn(of: job.id)
        }
        Log.notice("job \(job.id) was being brought back; its original, at \(place), goes back", of: LogSubject(job))
        ledger.putRight(job.id, source: place)
    }

    /// If a crash interrupted a move after the original was copied and before it was removed, removes the copy at the
    /// target path. No job refers to the copy, so the next start would take it for a new picture.
    private func removeCopy(of job: JobRecord) throws {
        guard job.origin != .kept, let place = job.returns, place != job.source,
            let copy = try originals.filePlace(place, of: job), try copy.status() != nil,
            let original = try originals.filePlace(job.source, of: job), try original.status() != nil,
            try FileSystem.isCopy(copy.name, in: copy.folder, of: original.open(O_RDONLY))
        else { return }
        try copy.remove()
    }

    /// Adds to `unfinished` a job that could not be brought back. Later, `end` locates its original.
    private func leaveUnfinished(_ job: JobRecord) {
        unfinished.withLock { _ = $0[job.order.inbox, default: []].insert(job.id) }
    }

    private func take(
        _ record: JobRecord, _ order: WorkOrder, to start: String, _ originals: OriginalPlaces,
        _ outcome: inout Outcome
    ) {
        var record = record
        do {
            // The next attempt may use the names of these files, so they are removed.
            for file in record.staged.map(\.path) + (record.intent?.steps.map(\.staging) ?? []) {
                try FileSystem.remove(file)
            }
            let old = record.needsDownload ? Disposal.absentPath(record, originals.places) : record.source
            if record.needsDownload || record.source == start {
                record.source = start
            } else {
                try move(&record, order, to: start, originals)
            }
            if record.state == .failed { try? FileSystem.remove(Explanation.path(of: old)) }
            // If the job's priority differs from its old order's priority, a user has set the job's priority. In that
            // case, the job keeps its priority.
            if record.priority == record.order.priority.rank { record.priority = order.priority.rank }
            if record.state == .done { record.former = record.order }
            record.order = order
            outcome.brought.append(record)
        } catch {
            lose(record, error, &outcome)
        }
    }

    /// Moves an original to `start`, or to another path if `start` is taken.
    private func move(
        _ record: inout JobRecord, _ order: WorkOrder, to start: String, _ originals: OriginalPlaces
    ) throws {
        guard let original = try originals.filePlace(record.source, of: record) else {
            throw SystemError("open", record.source, code: ENOENT)
        }
        let claims = record.origin == .claimed ? try originals.claims(order.inbox) : nil
        var place = start
        var taken: Set<String> = []
        while try !move(original, to: place, claims, &record.file) {
            taken.insert(place)
            place = try originals.start(of: record, for: order, except: taken)
            ledger.changeReturn(of: record.id, to: place)
        }
        record.source = place
    }

    /// Returns false if the place is taken. A renamed file keeps its identity; a copied file gets a new one, which is
    /// stored in `file`.
    private func move(
        _ original: FilePlace, to place: String, _ claims: ClaimFolder?, _ file: inout FileStatus.Identity
    ) throws -> Bool {
        do {
            if let claims { return try claims.take(original, to: place) }
        } catch let error as SystemError where error.code == EXDEV {
            // The original is on another file system, so it is copied below.
        }
        guard try claims?.takeCopy(original, to: place) ?? Moving.move(original, to: place) else { return false }
        if let there = try claims?.status(place) ?? FileSystem.status(place) { file = there.identity }
        return true
    }

    /// Makes the moves durable before the ledger records that the jobs are back.
    private func makeDurable(_ outcome: inout Outcome) {
        var failed: [String: any Error] = [:]
        let moved = outcome.brought.lazy.filter { $0.origin != .kept && !$0.needsDownload }
        for folder in Set(moved.map { FileSystem.folder(of: $0.source) }) {
            do {
                try FileSystem.sync(folder)
            } catch {
                failed[folder] = error
            }
        }
        guard !failed.isEmpty else { return }
        let brought = outcome.brought
        outcome.brought = []
        for record in brought {
            if let error = failed[FileSystem.folder(of: record.source)] {
                lose(record, error, &outcome)
            } else {
                outcome.brought.append(record)
            }
        }
    }

    private func lose(_ record: JobRecord, _ why: any Error, _ outcome: inout Outcome) {
        outcome.lost.append((record.id, why))
        leaveUnfinished(record)
    }
}
