import Dispatch
import Glibc
import PipelineControl
import PipelineModel
import Synchronization
import SystemCalls

extension Supervisor {
    /// Brings back jobs that failed or were cancelled, under the recipe as it is now; those that wait for their next try don't wait any
    /// longer. Hands over their IDs when that is durable, or what could not be brought back.
    func retry(_ call: Call.Retry, done: @escaping @Sendable (Result<[Int], ControlError>) -> Void) throws(ControlError)
    {
        for name in call.states where !["failed", "cancelled", "waiting"].contains(name) {
            throw .badValue("'\(name.prefix(50))' can't be tried again; failed, cancelled and waiting can")
        }
        let named = try records(of: Set(call.ids).sorted())
        let early = named.filter { $0.state == .waiting && $0.hold == .retry }.map(\.id)
        let records = named.filter { !early.contains($0.id) }
        for record in records {
            guard record.state == .failed || record.state == .cancelled, !retrying.contains(record.id) else {
                throw .refused(
                    "job \(record.id) is \(shown(record).state); only what failed, was cancelled, or waits "
                        + "for its next try can be tried again")
            }
            guard !record.isList else {
                throw .refused("job \(record.id) was a list; `pipectl add` its file, which lies in \(record.source)")
            }
            _ = try orderNow(record)
        }
        let states = call.states.compactMap(JobState.init(rawValue:)).filter(\.isFinal)
        try checkNeeds(ofRetried: records.map(\.id), states)
        let last = nextID - 1
        retryEarly(call.states.contains("waiting") ? nil : early) { [self] brought in
            retry(records, Retried(ids: brought)) { [self] retried in
                retryAll(states, after: 0, upTo: last, retried) { [self] retried in
                    // What comes after a job that is not brought back has to fail again.
                    ledger.followAll { done(retried.result) }
                }
            }
        }
    }

    /// What has become of a retry so far.
    private struct Retried: Sendable {
        var ids: [Int] = []
        /// Why not all could be looked for.
        var unread: ControlError?
        /// The first few of them, in words.
        var lost: [String] = []
        var lostCount = 0

        mutating func lose(_ job: Int, _ why: any Error) {
            lostCount += 1
            if lost.count < 3 { lost.append("job \(job): \(why)") }
        }

        var result: Result<[Int], ControlError> {
            if let unread { return .failure(unread) }
            guard lostCount > 0 else { return .success(ids) }
            let more = lostCount > lost.count ? ", and \(lostCount - lost.count) more" : ""
            return .failure(
                .refused(
                    "\(ids.count) of \(ids.count + lostCount) are tried again; the others can't be "
                        + "brought back: \(lost.joined(separator: "; "))\(more)"))
        }
    }

    /// All jobs of these states up to an ID, some at a time: others have their turn on the supervisor's queue in between.
    private func retryAll(
        _ states: [JobState], after id: Int, upTo last: Int, _ retried: Retried,
        done: @escaping @Sendable (Retried) -> Void
    ) {
        let rows: [JobRecord]
        do {
            rows =
                try states.isEmpty
                ? [] : ledger.answer { try $0.list(JobFilter(states: states), after: id, limit: 200) }
        } catch {
            var retried = retried
            retried.unread = error
            return done(retried)
        }
        guard let next = rows.last?.id, id < last else { return done(retried) }
        retry(rows.filter { $0.id <= last && !$0.isList && !retrying.contains($0.id) }, retried) { [self] in
            retryAll(states, after: next, upTo: last, $0, done: done)
        }
    }

    private func retry(
        _ records: [JobRecord], _ soFar: Retried, done: @escaping @Sendable (Retried) -> Void
    ) {
        var retried = soFar
        var found: [String: [(id: Int, order: WorkOrder)]] = [:]
        for record in records {
            do {
                found[record.order.inbox, default: []].append((record.id, try orderNow(record)))
            } catch {
                retried.lose(record.id, error)
            }
        }
        let ids = found.values.joined().map(\.id)
        retrying.formUnion(ids)
        let result = Mutex((brought: [JobRecord](), retried: retried))
        let group = DispatchGroup()
        for (inbox, wanted) in found {
            group.enter()
            // Behind the moves that are under way: an original is brought back from where it has arrived.
            whenOpened(Set(wanted.map(\.order.inbox)), on: disposal(of: inbox)) { [self] in
                defer { group.leave() }
                // The moves just made are to be read.
                _ = ledger.flush(seconds: 10)
                for (id, order) in wanted {
                    let record = Result { try bringBack(id, order) }
                    result.withLock { result in
                        switch record {
                        case .success(let record): result.brought.append(record)
                        case .failure(let error): result.retried.lose(id, error)
                        }
                    }
                }
            }
        }
        group.notify(queue: queue) { [self] in
            let brought = result.withLock { $0.brought }.sorted { $0.id < $1.id }
            requeue(brought) { [self] in
                retrying.subtract(ids)
                var retried = result.withLock { $0.retried }
                retried.ids += brought.map(\.id)
                done(retried)
            }
        }
    }

    /// At the start an inbox takes in what it finds claimed and the ledger does not know: what is brought back comes behind that.
    private func whenOpened(
        _ folders: Set<String>, on line: DispatchQueue, _ body: @escaping @Sendable () -> Void
    ) {
        let opened = DispatchGroup()
        for inbox in inboxes where folders.contains(inbox.folder) {
            opened.enter()
            inbox.afterwards { opened.leave() }
        }
        opened.notify(queue: line, execute: body)
    }

    private func requeue(_ records: [JobRecord], done: @escaping @Sendable () -> Void) {
        let group = DispatchGroup()
        for var record in records {
            record.position = nextPosition
            nextPosition += 1
            counts[record.state, default: 0] -= 1
            counts[.queued, default: 0] += 1
            group.enter()
            ledger.requeue(record) { group.leave() }
        }
        group.notify(queue: queue) { [self] in
            fill()
            done()
        }
    }

    private func orderNow(_ record: JobRecord) throws(ControlError) -> WorkOrder {
        if record.order.adHoc { return record.order }
        guard let recipe = current.recipe(record.order.recipe) else {
            throw .noSuchRecipe(record.order.recipe, known: current.configuration.recipes.map(\.name))
        }
        return current.order(for: recipe, places)
    }

    /// From `failed/` or `cancelled/` back to where work begins.
    private func bringBack(_ id: Int, _ order: WorkOrder) throws -> JobRecord {
        guard var record = try ledger.job(id) else { throw ControlError.noSuchJob(id) }
        if record.needsDownload {
            try? FileSystem.remove(Disposal.explanationPath(Disposal.absentPath(record, places)))
            record.source = downloadPath()
            record.order = order
            return record
        }
        let old = record.source
        guard try FileSystem.exists(old) else { throw SystemError("open", old, code: ENOENT) }
        let there: FileStatus?
        switch record.origin {
        case .kept: there = try FileSystem.status(old)
        case .claimed:
            let claims = try claims.open(order.inbox)
            record.source = try claims.take(Spot(old), as: record.path, isInWork: knows)
            there = try claims.status(record.source)
        case .spooled:
            record.source = try Moving.move(
                Spot(old), into: "\(places.spool)/\(Spool.folder(bringingBack: id))",
                as: FileSystem.name(of: record.path))
            try FileSystem.sync(FileSystem.folder(of: record.source))
            there = try FileSystem.status(record.source)
        }
        if let identity = there?.identity { record.file = identity }
        try? FileSystem.remove(Disposal.explanationPath(old))
        // Another priority than the recipe's was somebody's wish.
        if record.priority == record.order.priority.rank { record.priority = order.priority.rank }
        record.order = order
        return record
    }
}
