import DaemonRuntime
import JobLedger
import PipelineModel
import Synchronization

/// Jobs that failed or were cancelled are tried again, under their recipe as it is now; jobs that wait for their next
/// try don't wait any longer.
@Coordination
final class Revivals {
    private let ledger: Ledger
    private let configuration: ConfigurationInForce
    private let numbers: JobNumbers
    private let retries: Retries
    private let disposals: Disposals
    private let changes: JobChanges

    /// The outcome of a wish, as far as it is known.
    struct Outcome: Sendable {
        var ids: [Int] = []
        /// Why the search for jobs broke off.
        fileprivate(set) var unread: (any Error)?
        /// The first few jobs that could not be brought back, in words.
        fileprivate(set) var lost: [String] = []
        fileprivate(set) var lostCount = 0
        /// Jobs that are back, and will be queued when the ledger has the places of the next ones: these are moved meanwhile.
        fileprivate var back: [JobRecord] = []

        fileprivate mutating func lose(_ job: Int, _ why: Any) {
            lostCount += 1
            if lost.count < 3 { lost.append("job \(job): \(why)") }
        }
    }

    init(
        _ ledger: Ledger, _ configuration: ConfigurationInForce, _ numbers: JobNumbers, _ retries: Retries,
        _ disposals: Disposals, _ changes: JobChanges
    ) {
        (self.ledger, self.configuration, self.numbers) = (ledger, configuration, numbers)
        (self.retries, self.disposals, self.changes) = (retries, disposals, changes)
    }

    /// Tries these jobs again, and all of the states up to the newest, or those of a batch. Jobs that wait for their
    /// next try come before their time: the ones in `early`, or all if that is nil. `done` is called when it is durable.
    func revive(
        _ records: [JobRecord], early: [Int]?, _ states: [JobState], of batch: Int? = nil,
        done: @escaping @Coordination @Sendable (Outcome) -> Void
    ) {
        let last = numbers.lastID
        retries.queueEarly(early, of: batch) { [self] ids in
            revive(records, Outcome(ids: ids)) { [self] outcome in
                reviveAll(JobFilter(states: states, batch: batch), upTo: last, outcome) { [self] outcome in
                    changes.queueAgain(outcome.back)
                    // Behind what was queued. Jobs that come after one that is not brought back have to fail again.
                    ledger.followAll { Coordination.async { done(outcome) } }
                }
            }
        }
    }

    /// The order for another try of a job, unless its recipe is gone.
    func order(of record: JobRecord) -> WorkOrder? {
        if record.order.adHoc { return record.order }
        return configuration.now.recipe(record.order.recipe).map(configuration.order)
    }

    /// All jobs of the filter up to an ID.
    private func reviveAll(
        _ filter: JobFilter, upTo last: Int, _ outcome: Outcome,
        done: @escaping @Coordination @Sendable (Outcome) -> Void
    ) {
        guard !filter.states.isEmpty else { return done(outcome) }
        JobPortions(ledger: ledger, filter: filter, last: last).each(outcome) { [self] in
            revive($0, $1, isNamed: false, done: $2)
        } done: { outcome, error in
            var outcome = outcome
            outcome.unread = error
            done(outcome)
        }
    }

    private func revive(
        _ records: [JobRecord], _ soFar: Outcome, isNamed: Bool = true,
        done: @escaping @Coordination @Sendable (Outcome) -> Void
    ) {
        var outcome = soFar
        var wanted: [Returns.Wanted] = []
        var orders: [WorkOrder: WorkOrder] = [:]
        for record in records {
            let order = orders[record.order] ?? order(of: record)
            orders[record.order] = order
            if let order {
                wanted.append(Returns.Wanted(job: record, order: order))
            } else {
                outcome.lose(record.id, "there is no recipe '\(record.order.recipe)' any more")
            }
        }
        let former = Mutex(soFar.back)
        let queueFormer: @Coordination @Sendable () -> Void = { [changes] in
            changes.queueAgain(
                former.withLock { jobs in
                    defer { jobs = [] }
                    return jobs
                })
        }
        // The inbox of the next ones may hang: the former ones do not wait for it.
        Coordination.after(.seconds(1), queueFormer)
        disposals.bringBack(wanted, recorded: queueFormer) { [outcome] returned in
            queueFormer()
            var outcome = outcome
            outcome.back = returned.brought
            outcome.ids += returned.brought.map(\.id)
            for (job, why) in returned.lost { outcome.lose(job, why) }
            // A wish for everything passes over jobs that somebody else brings back.
            if isNamed { for job in returned.others { outcome.lose(job, "somebody else has brought it back") } }
            done(outcome)
        }
    }
}
