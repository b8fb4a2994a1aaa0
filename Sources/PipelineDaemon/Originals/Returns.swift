import DaemonRuntime
import Glibc
import InboxWatching
import JobLedger
import PipelineModel
import Synchronization
import SystemCalls

/// Brings originals back to where work begins, and undoes what a crash has broken off of it. A row says where its
/// original goes before that is moved: nobody else touches the job meanwhile.
///
/// All of it runs on the line of an inbox (`Disposals`).
final class Returns: Sendable {
    /// A job that is wanted back, and its new order.
    struct Wanted: Sendable {
        var job: JobRecord
        var order: WorkOrder
        /// The states that it is brought back from.
        var states: [JobState] = [.failed, .cancelled]
    }

    /// The outcome for the jobs that were wanted back.
    struct Outcome: Sendable {
        var brought: [JobRecord] = []
        /// Jobs that somebody else has brought back, or is bringing back.
        var others: [Int] = []
        var lost: [(job: Int, why: any Error)] = []

        mutating func add(_ outcome: Outcome) {
            brought += outcome.brought
            others += outcome.others
            lost += outcome.lost
        }
    }

    private let ledger: Ledger
    private let originals: OriginalPlaces
    private let publisher: Publisher
    /// Jobs whose return has failed or was broken off, by their inbox, until it is known where their originals lie.
    private let unfinished = Mutex<[String: Set<Int>]>([:])

    init(_ originals: OriginalPlaces, _ publisher: Publisher) {
        (ledger, self.originals, self.publisher) = (originals.ledger, originals, publisher)
    }

    /// Finds the returns that a crash broke off.
    func begin() throws {
        for job in try ledger.returning() { leaveUnfinished(job) }
    }

    /// Inboxes of which it is not known where all originals lie.
    var inboxes: Set<String> { unfinished.withLock { Set($0.keys) } }

    /// Calls `recorded` before the first original is moved.
    func takeBack(_ wanted: [Wanted], recorded: () -> Void = {}) -> Outcome {
        var outcome = Outcome()
        let records = Result {
            let found = try ledger.jobs(wanted.map(\.job.id)).map { ($0.id, $0) }
            return Dictionary(found, uniquingKeysWith: { first, _ in first })
        }
        let originals = originals.openingOnce()
        var starts: [Int: String] = [:]
        var taken: Set<String> = []
        var jobs: [(record: JobRecord, order: WorkOrder)] = []
        for one in wanted {
            do {
                guard let record = try records.get()[one.job.id] else {
                    throw JobFailure("there is no such job any more")
                }
                guard one.states.contains(record.state), record.returns == nil else {
                    outcome.others.append(record.id)
                    continue
                }
                if let removed = record.removed { throw JobFailure("its original was \(removed.text)") }
                guard try record.needsDownload || originals.status(record.source, of: record) != nil else {
                    throw SystemError("open", record.source, code: ENOENT)
                }
                // The next try follows another order.
                if let intent = record.intent { try publisher.takeBack(intent) }
                let start = try originals.start(of: record, for: one.order, except: taken)
                starts[record.id] = start
                taken.insert(start)
                jobs.append((record, one.order))
            } catch {
                outcome.lost.append((one.job.id, error))
            }
        }
        let states = Dictionary(wanted.map { ($0.job.id, $0.states) }, uniquingKeysWith: { first, _ in first })
        let begun = ledger.begin(
            starts.map { Ledger.Return(job: $0.key, place: $0.value, states: states[$0.key] ?? []) })
        recorded()
        for (record, order) in jobs {
            guard begun.contains(record.id), let place = starts[record.id] else {
                outcome.others.append(record.id)
                continue
            }
            take(record, order, from: record.source, to: place, originals, &outcome)
        }
        makeDurable(&outcome)
        return outcome
    }

    /// Undoes the returns of an inbox that have failed or were broken off. Returns which they were, and the jobs whose
    /// original can't be found now.
    func end(in inbox: String) throws -> (ended: Set<Int>, lost: [(job: JobRecord, why: any Error)]) {
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
        else { return ledger.abandonReturn(of: job.id) }
        Log.notice("job \(job.id) was being brought back; its original, at \(place), goes back", of: LogSubject(job))
        ledger.putRight(job.id, source: place)
    }

    /// The return has failed: `end` finds out where the original lies.
    private func leaveUnfinished(_ job: JobRecord) {
        unfinished.withLock { _ = $0[job.order.inbox, default: []].insert(job.id) }
    }

    private func take(
        _ record: JobRecord, _ order: WorkOrder, from: String, to: String, _ originals: OriginalPlaces,
        _ outcome: inout Outcome
    ) {
        var (record, place) = (record, to)
        do {
            // The next try may use their names.
            for file in record.staged.map(\.path) + (record.intent?.steps.map(\.staging) ?? []) {
                try FileSystem.remove(file)
            }
            if !record.needsDownload, from != place {
                guard let original = try originals.spot(from, of: record) else {
                    throw SystemError("open", from, code: ENOENT)
                }
                var taken: Set<String> = []
                while try !move(original, of: record, order, to: place, originals) {
                    taken.insert(place)
                    place = try originals.start(of: record, for: order, except: taken)
                    ledger.change(Ledger.Return(job: record.id, place: place))
                }
            }
            if record.state == .failed {
                let old = record.needsDownload ? Disposal.absentPath(record, originals.places) : record.source
                try? FileSystem.remove(Explanation.path(of: old))
            }
            record.source = place
            // Another priority than the recipe's was somebody's wish.
            if record.priority == record.order.priority.rank { record.priority = order.priority.rank }
            if record.state == .done { record.former = record.order }
            record.order = order
            if !record.needsDownload, let there = try originals.status(place, of: record) {
                record.file = there.identity
            }
            outcome.brought.append(record)
        } catch {
            lose(record, error, &outcome)
        }
    }

    private func move(
        _ original: Spot, of record: JobRecord, _ order: WorkOrder, to place: String, _ originals: OriginalPlaces
    ) throws -> Bool {
        guard record.origin == .claimed else { return try Moving.move(original, to: place) }
        let claims = try originals.claims(order.inbox)
        do {
            return try claims.take(original, to: place)
        } catch let error as SystemError where error.code == EXDEV {
            return try claims.takeCopy(original, to: place)
        }
    }

    /// Makes the moves durable before they are recorded.
    private func makeDurable(_ outcome: inout Outcome) {
        var failed: [String: any Error] = [:]
        let moved = outcome.brought.filter { $0.origin != .kept && !$0.needsDownload }
        for folder in Set(moved.map { FileSystem.folder(of: $0.source) }) {
            do {
                try FileSystem.sync(folder)
            } catch {
                failed[folder] = error
            }
        }
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
