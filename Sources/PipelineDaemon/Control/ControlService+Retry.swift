import Dispatch
import Glibc
import PipelineControl
import PipelineModel
import SystemCalls

extension Supervisor {
    /// Brings back jobs that failed or were cancelled, under the recipe as it is now; hands over their IDs when that is durable, or
    /// what could not be brought back.
    func retry(_ call: Call.Retry, done: @escaping @Sendable (Result<[Int], ControlError>) -> Void) throws(ControlError)
    {
        var records: [JobRecord] = []
        for id in Set(call.ids).sorted() {
            let record = try record(of: id)
            guard record.state == .failed || record.state == .cancelled, !retrying.contains(id) else {
                throw .refused(
                    "job \(id) is \(shown(record).state); only what failed or was cancelled can be tried again")
            }
            records.append(record)
        }
        var states: [JobState] = []
        for name in call.states {
            guard let state = JobState(rawValue: name), state == .failed || state == .cancelled else {
                throw .badValue("'\(name)' can't be tried again; failed and cancelled can")
            }
            states.append(state)
        }
        if !states.isEmpty {
            let listed = (try? ledger.list(JobFilter(states: states), after: 0, limit: Int.max)) ?? []
            records += listed.filter { !retrying.contains($0.id) && !call.ids.contains($0.id) }
        }
        var found: [(JobRecord, WorkOrder)] = []
        for record in records { found.append((record, try orderNow(record))) }
        let wanted = found
        retrying.formUnion(records.map(\.id))
        // Behind the moves that are under way: an original is brought back from where it has arrived.
        disposing.async { [self] in
            // The moves just made are to be read.
            _ = ledger.flush(seconds: 10)
            var brought: [JobRecord] = []
            var missing: [String] = []
            for (record, order) in wanted {
                do {
                    brought.append(try bringBack(record.id, order))
                } catch {
                    missing.append("job \(record.id): \(error)")
                }
            }
            let (ready, lost) = (brought, missing)
            queue.async { [self] in
                requeue(ready) { [self] in
                    retrying.subtract(wanted.map(\.0.id))
                    guard !lost.isEmpty else { return done(.success(ready.map(\.id))) }
                    let more = lost.count > 3 ? ", and \(lost.count - 3) more" : ""
                    done(
                        .failure(
                            .refused(
                                "\(ready.count) of \(wanted.count) are tried again; the originals of the others can't be "
                                    + "brought back: \(lost.prefix(3).joined(separator: "; "))\(more)")))
                }
            }
        }
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
        let old = record.source
        guard FileSystem.exists(old) else { throw SystemError("open", old, code: ENOENT) }
        switch record.origin {
        case .kept: break
        case .claimed: record.source = try Claims.take(old, as: record.path, in: order.inbox, isInWork: knows)
        case .spooled:
            record.source = try Moving.move(
                old, into: "\(places.spool)/\(Spool.folder(bringingBack: id))", as: FileSystem.name(of: record.path))
        }
        if let identity = try FileSystem.status(record.source)?.identity { record.file = identity }
        try? FileSystem.remove(Disposal.explanationPath(old))
        record.order = order
        return record
    }
}
