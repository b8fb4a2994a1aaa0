import Dispatch
import PipelineControl
import PipelineModel
import SystemCalls

extension Supervisor {
    /// Brings back jobs that failed or were cancelled, under the recipe as it is now; hands over their IDs when that is durable.
    func retry(_ call: Call.Retry, done: @escaping @Sendable ([Int]) -> Void) throws(ControlError) {
        var records: [JobRecord] = []
        for id in call.ids {
            let record = try record(of: id)
            guard record.state == .failed || record.state == .cancelled else {
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
            records += (try? ledger.list(JobFilter(states: states), after: 0, limit: Int.max)) ?? []
        }
        var found: [(JobRecord, WorkOrder)] = []
        for record in records { found.append((record, try orderNow(record))) }
        let wanted = found
        // Behind the moves that are under way: an original is brought back from where it has arrived.
        disposing.async { [self] in
            var brought: [JobRecord] = []
            for (var record, order) in wanted {
                guard let fresh = try? ledger.job(record.id), fresh.state == record.state else { continue }
                record = fresh
                do {
                    record.source = try bringBack(record, order)
                    record.order = order
                    brought.append(record)
                } catch {
                    Log.failure("job \(record.id) can't be tried again: its original can't be brought back: \(error)")
                }
            }
            let ready = brought
            queue.async { [self] in requeue(ready, done: done) }
        }
    }

    private func requeue(_ records: [JobRecord], done: @escaping @Sendable ([Int]) -> Void) {
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
            done(records.map(\.id))
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
    private func bringBack(_ record: JobRecord, _ order: WorkOrder) throws -> String {
        let source =
            switch record.origin {
            case .kept: record.source
            case .claimed: try Claims.take(record.source, as: record.path, in: order.inbox)
            case .spooled:
                try Moving.move(
                    record.source, into: "\(places.spool)/\(UUIDName.make())", as: FileSystem.name(of: record.path))
            }
        try? FileSystem.remove(Disposal.explanationPath(record.source))
        return source
    }
}
