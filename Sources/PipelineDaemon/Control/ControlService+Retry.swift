import DaemonRuntime
import JobLedger
import PipelineControl
import PipelineModel

@Coordination
extension ControlService {
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
            guard record.state == .failed || record.state == .cancelled, record.returns == nil else {
                let state = record.returns == nil ? shown(record).state : "being brought back already"
                throw .refused(
                    "job \(record.id) is \(state); only what failed, was cancelled, or waits "
                        + "for its next try can be tried again")
            }
            guard !record.isList else {
                throw .refused("job \(record.id) was a list; `pipectl add` its file, which lies in \(record.source)")
            }
            _ = try orderNow(record)
        }
        let states = call.states.compactMap(JobState.init(rawValue:)).filter(\.isFinal)
        try checkNeeds(ofRetried: records.map(\.id), states)
        let last = owners.numbers.lastID
        owners.retries.queueEarly(call.states.contains("waiting") ? nil : early) { [self] brought in
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
        /// Why the search for jobs broke off.
        var unread: ControlError?
        /// The first few of them, in words.
        var lost: [String] = []
        var lostCount = 0

        mutating func lose(_ job: Int, _ why: Any) {
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

    /// All jobs of these states up to an ID, some at a time: others have their turn in between.
    private func retryAll(
        _ states: [JobState], after id: Int, upTo last: Int, _ retried: Retried,
        done: @escaping @Coordination @Sendable (Retried) -> Void
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
        retry(rows.filter { $0.id <= last && !$0.isList }, retried, isNamed: false) { [self] in
            retryAll(states, after: next, upTo: last, $0, done: done)
        }
    }

    private func retry(
        _ records: [JobRecord], _ soFar: Retried, isNamed: Bool = true,
        done: @escaping @Coordination @Sendable (Retried) -> Void
    ) {
        var retried = soFar
        var wanted: [Returns.Wanted] = []
        for record in records {
            do {
                wanted.append(Returns.Wanted(job: record, order: try orderNow(record)))
            } catch {
                retried.lose(record.id, error)
            }
        }
        owners.disposals.bringBack(wanted) { [self, retried] outcome in
            owners.changes.queueAgain(outcome.brought) {
                var retried = retried
                retried.ids += outcome.brought.map(\.id)
                for (job, why) in outcome.lost { retried.lose(job, why) }
                // A retry of everything passes over jobs that somebody else brings back.
                if isNamed { for job in outcome.others { retried.lose(job, "somebody else has brought it back") } }
                done(retried)
            }
        }
    }

    /// The order for another try of a job.
    private func orderNow(_ record: JobRecord) throws(ControlError) -> WorkOrder {
        if record.order.adHoc { return record.order }
        guard let recipe = current.recipe(record.order.recipe) else {
            throw .noSuchRecipe(record.order.recipe, recipes: current.configuration.recipes.map(\.name))
        }
        return owners.configuration.order(for: recipe)
    }
}
