package import DaemonConfiguration
package import DaemonRuntime
package import JobLedger
package import PictureFiles
package import PipelineModel

/// Jobs that failed or were cancelled are tried again, under their recipe as it is now; jobs that wait for their next
/// try don't wait any longer.
@Coordination
package final class Revivals {
    private let ledger: Ledger
    private let configuration: ConfigurationInForce
    private let numbers: JobNumbers
    private let retries: Retries
    private let originals: OriginalMover
    private let changes: JobChanges

    /// The outcome of a wish, as far as it is known.
    package struct Outcome: Sendable {
        package var ids: [Int]
        /// Why the search for jobs broke off.
        package fileprivate(set) var unread: (any Error)?
        /// The first few jobs that could not be brought back, in words.
        package fileprivate(set) var lost: [String] = []
        package fileprivate(set) var lostCount = 0

        fileprivate mutating func lose(_ job: Int, _ why: Any) {
            lostCount += 1
            if lost.count < 3 { lost.append("job \(job): \(why)") }
        }
    }

    package init(
        _ ledger: Ledger, _ configuration: ConfigurationInForce, _ numbers: JobNumbers, _ retries: Retries,
        _ originals: OriginalMover, _ changes: JobChanges
    ) {
        (self.ledger, self.configuration, self.numbers) = (ledger, configuration, numbers)
        (self.retries, self.originals, self.changes) = (retries, originals, changes)
    }

    /// Tries these jobs again, and all of the states up to the newest, or those of a batch. Jobs that wait for their
    /// next try come before their time: the ones in `early`, or all if that is nil. `done` is called when it is durable.
    package func revive(
        _ records: [JobRecord], early: [Int]?, _ states: [JobState], of batch: Int? = nil,
        done: @escaping @Coordination @Sendable (Outcome) -> Void
    ) {
        let last = numbers.lastID
        retries.queueEarly(early, of: batch) { [self] ids in
            let revival = Revival(ids)
            bringBack(records, isNamed: true, for: revival) { [self] in
                bringBackAll(JobFilter(states: states, batch: batch), upTo: last, for: revival) { [ledger] in
                    revival.whenOver {
                        // Behind what was queued. Jobs that come after one that is not brought back have to fail again.
                        ledger.followAll { Coordination.async { done(revival.outcome) } }
                    }
                }
            }
        }
    }

    /// The order for another try of a job, unless its recipe is gone or held.
    package func order(of record: JobRecord) -> WorkOrder? {
        if record.order.adHoc { return record.order }
        return configuration.now.recipe(record.order.recipe).map(configuration.order)
    }

    /// All jobs of the filter up to an ID.
    private func bringBackAll(
        _ filter: JobFilter, upTo last: Int, for revival: Revival, done: @escaping @Coordination @Sendable () -> Void
    ) {
        guard !filter.states.isEmpty else { return done() }
        JobPortions(ledger: ledger, filter: filter, last: last).each(revival) { [self] records, revival, goOn in
            bringBack(records, isNamed: false, for: revival) { goOn(revival) }
        } done: { revival, error in
            revival.outcome.unread = error
            done()
        }
    }

    /// Calls `goOn` when the next jobs may be given.
    private func bringBack(
        _ records: [JobRecord], isNamed: Bool, for revival: Revival,
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
        originals.bringBack(wanted) { [changes] returned in
            changes.queueAgain(returned.brought)
            for (job, why) in returned.lost { revival.outcome.lose(job, why) }
            // A wish for everything passes over jobs that somebody else brings back.
            if isNamed { for job in returned.others { revival.outcome.lose(job, "somebody else has brought it back") } }
            revival.outcome.ids += returned.brought.map(\.id)
            revival.end()
        }
        revival.whenAnotherMayBegin(goOn)
    }
}

/// A wish to bring jobs back, under way. While some are moved, the next ones are prepared, and more are given to their
/// inboxes: these never wait.
@Coordination
private final class Revival {
    /// Portions under way: one is moved, one is prepared, and one waits, so that both have the next at hand.
    private static let mostUnderWay = 3

    var outcome: Revivals.Outcome

    private var underWay = 0
    private var waiting: (most: Int, body: @Coordination @Sendable () -> Void)?

    init(_ ids: [Int]) { outcome = Revivals.Outcome(ids: ids) }

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
