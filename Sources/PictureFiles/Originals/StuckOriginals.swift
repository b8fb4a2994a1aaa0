package import DaemonRuntime
package import JobLedger
package import JobModel
import ServiceProgram
import Synchronization
import WorkerPools

/// Originals that can't be moved, each with its reason. Their moves are retried every two seconds.
@Coordination
package final class StuckOriginals {
    private struct Stuck {
        var inbox: String
        var reason: String
    }

    private let ledger: Ledger
    private let jobs = Mutex<[Int: Stuck]>([:])
    private lazy var tries = Repetition(while: { [weak self] in self?.jobs.withLock(\.isEmpty) == false }) {
        [weak self] in
        self?.tryAgain()
    }
    /// Called every two seconds, as long as any original is stuck, to retry the moves.
    package var tryAgain: @Coordination () -> Void = {}

    package weak var delegate: (any OriginalMoverDelegate)?

    package init(_ ledger: Ledger) { self.ledger = ledger }

    package nonisolated func add(_ record: JobRecord, _ error: any Error) {
        add(record, because: "its original stays at \(record.source): \(error)")
    }

    package nonisolated func add(_ record: JobRecord, because cause: String) {
        let reason = "\(cause); this is tried again"
        let known = jobs.withLock {
            $0.updateValue(Stuck(inbox: record.order.inbox, reason: reason), forKey: record.id)?.reason
        }
        if known != reason {
            Log.failure("job \(record.id): \(reason)", of: LogSubject(record))
            ledger.append(.job(record.id, record.state, reason))
        }
        Coordination.async { [self] in
            tries.begin()
            delegate?.delaysChanged()
        }
    }

    /// Called after an original was moved to `source`. If the original was stuck, records in the event log that it has
    /// now been moved.
    package nonisolated func moved(_ record: JobRecord, to source: String) {
        guard jobs.withLock({ $0.removeValue(forKey: record.id) }) != nil else { return }
        ledger.append(.job(record.id, record.state, "its original could be moved now, to \(source)"))
    }

    /// Forgets originals that no longer need to be moved.
    package nonisolated func forget(_ ids: [Int]) {
        jobs.withLock { jobs in for id in ids { jobs[id] = nil } }
    }

    /// Forgets the stuck originals of this inbox, except those in `left`.
    package nonisolated func keep(_ left: Set<Int>, of inbox: String) {
        jobs.withLock { jobs in jobs = jobs.filter { $0.value.inbox != inbox || left.contains($0.key) } }
    }

    /// Why the original of this job stays where it is.
    package nonisolated func reason(for job: Int) -> String? { jobs.withLock { $0[job]?.reason } }

    /// Describes the first stuck original among these jobs, or among all jobs if `ids` is nil.
    package func text(among ids: Set<Int>?) -> String? {
        let stays = jobs.withLock { $0 }.filter { ids?.contains($0.key) != false }
        guard let first = stays.min(by: { $0.key < $1.key }) else { return nil }
        return "job \(first.key): \(first.value.reason)\(stays.count > 1 ? " (and \(stays.count - 1) more)" : "")"
    }
}
