package import DaemonConfiguration
package import DaemonInterface
package import DaemonRuntime
package import JobLedger
package import JobModel
package import PictureFiles
package import PipelineModel
import ServiceProgram

/// Retries failed and cancelled jobs with the current version of their recipe. Also queues jobs that wait for a
/// scheduled retry, before the retry is due.
@Coordination
package struct RetryRequests {
    private let ledger: Ledger
    private let configuration: ConfigurationInForce
    private let jobs: JobQueue
    private let originals: OriginalMover

    package init(
        _ ledger: Ledger, _ configuration: ConfigurationInForce, _ jobs: JobQueue, _ originals: OriginalMover
    ) {
        (self.ledger, self.configuration, self.jobs) = (ledger, configuration, jobs)
        self.originals = originals
    }

    /// Retries the jobs in `records`, and all jobs in one of `states` that were accepted before this call. Also queues
    /// the jobs in `early`, which wait for a scheduled retry. If `early` is nil, queues all jobs that wait for a
    /// scheduled retry. `batch` restricts everything except `records` to the jobs of one batch. Calls `done` when the
    /// changes are durable.
    package func revive(
        _ records: [JobRecord], early: [Int]?, _ states: [JobState], of batch: Int? = nil,
        done: @escaping Done<RetryOutcome>
    ) {
        let last = jobs.numbers.lastID
        jobs.queueEarly(early, of: batch) { [self] ids in
            let revival = RetryRequest(ids)
            bringBack(records, isNamed: true, for: revival) { [self] in
                bringBackAll(JobFilter(states: states, batch: batch), upTo: last, for: revival) { [ledger] in
                    revival.whenOver {
                        // Runs only after all jobs were queued, because a queued job must fail again if one of its
                        // dependencies was not brought back.
                        ledger.followAll { Coordination.async { done(revival.outcome) } }
                    }
                }
            }
        }
    }

    /// Returns the work order for a job's next attempt; nil if its recipe no longer exists or is held.
    package func order(of record: JobRecord) -> WorkOrder? {
        if record.order.adHoc { return record.order }
        return configuration.now.recipe(record.order.recipe).map(configuration.order)
    }

    /// Brings back all jobs that match the filter, up to the ID `last`.
    private func bringBackAll(
        _ filter: JobFilter, upTo last: Int, for revival: RetryRequest,
        done: @escaping @Coordination @Sendable () -> Void
    ) {
        guard !filter.states.isEmpty else { return done() }
        JobPortions(ledger: ledger, filter: filter, last: last).each(revival) { [self] records, revival, goOn in
            bringBack(records, isNamed: false, for: revival) { goOn(revival) }
        } done: { revival, error in
            revival.outcome.unread = error
            done()
        }
    }

    /// Brings back the originals of these jobs and queues the jobs. Calls `goOn` when the next portion of jobs may
    /// begin.
    private func bringBack(
        _ records: [JobRecord], isNamed: Bool, for revival: RetryRequest,
        goOn: @escaping @Coordination @Sendable () -> Void
    ) {
        var wanted: [Returns.Wanted] = []
        var orders: [WorkOrder: WorkOrder] = [:]
        for record in records {
            if let order = orders[record.order] ?? order(of: record) {
                orders[record.order] = order
                wanted.append(Returns.Wanted(job: record, order: order))
            } else {
                revival.outcome.lose(record.id, configuration.now.lack(of: record.order.recipe))
            }
        }
        revival.begin()
        originals.bringBack(wanted) { [jobs] returned in
            jobs.queueAgain(returned.brought)
            for (job, why) in returned.lost { revival.outcome.lose(job, why) }
            // A request for all jobs ignores the jobs that another request brings back.
            if isNamed { for job in returned.others { revival.outcome.lose(job, "somebody else has brought it back") } }
            revival.outcome.ids += returned.brought.map(\.id)
            revival.end()
        }
        revival.whenAnotherMayBegin(goOn)
    }
}

/// A request in progress to bring jobs back. Limits the number of portions in flight.
@Coordination
private final class RetryRequest {
    /// Maximum number of portions in flight. One portion is being moved, one is being prepared, and one waits, so that
    /// the queues that move originals never idle.
    private static let mostUnderWay = 3

    var outcome: RetryOutcome

    private var underWay = 0
    private var waiting: (most: Int, body: @Coordination @Sendable () -> Void)?

    init(_ ids: [Int]) { outcome = RetryOutcome(ids: ids) }

    func begin() { underWay += 1 }

    func end() {
        underWay -= 1
        goOn()
    }

    func whenAnotherMayBegin(_ body: @escaping @Coordination @Sendable () -> Void) { wait(Self.mostUnderWay - 1, body) }

    func whenOver(_ body: @escaping @Coordination @Sendable () -> Void) { wait(0, body) }

    private func wait(_ most: Int, _ body: @escaping @Coordination @Sendable () -> Void) {
        waiting = (most, body)
        goOn()
    }

    private func goOn() {
        guard let (most, body) = waiting, underWay <= most else { return }
        waiting = nil
        body()
    }
}
