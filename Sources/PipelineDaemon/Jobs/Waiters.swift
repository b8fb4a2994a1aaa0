import DaemonRuntime
import InboxWatching
import JobLedger
import PipelineModel

/// Somebody who waits for jobs to end.
struct Waiter {
    enum Kind {
        /// Certain jobs; the set holds those that have not ended.
        case these(Set<Int>)
        /// Whatever there is, until nothing is left to do.
        case everything
        /// The jobs of a batch, until it has ended.
        case batch(Int)
        /// Certain jobs, until none of them is in work; their originals may still be on their way.
        case stopping(Set<Int>)
    }

    var kind = Kind.everything
    var each: @Sendable (JobRecord) -> Void
    var done: @Sendable () -> Void
    /// Called with what holds up the remaining jobs, and with nil when nothing does.
    var delayed: @Sendable (String?) -> Void = { _ in }
    var toldDelay: String?
    /// The jobs of the batch that have been told of.
    var told: Set<Int> = []
    var batchHasEnded = false
    /// False once nobody is there any more to be told.
    var isWanted: @Sendable () -> Bool = { true }
}

/// Tells those who wait for jobs when these are over.
@Coordination
final class Waiters {
    private let ledger: Ledger
    private let window: Window
    private let counts: JobCounts
    private let inboxes: Inboxes
    private let reads: RepeatedReads
    /// Says what holds up the originals of these jobs, or of all.
    var delay: @Coordination (Set<Int>?) -> String? = { _ in nil }
    private var waiters: [Waiter] = []

    init(_ ledger: Ledger, _ window: Window, _ counts: JobCounts, _ inboxes: Inboxes, _ reads: RepeatedReads) {
        (self.ledger, self.window, self.counts) = (ledger, window, counts)
        (self.inboxes, self.reads) = (inboxes, reads)
    }

    /// Reports each job as it is over, and calls `done` after the last. Jobs that are over already are reported at
    /// once.
    func wait(for ids: [Int], _ waiter: Waiter) {
        var (left, waiter) = (Set(ids), waiter)
        do {
            for record in try ledger.jobs(ids) where window[record.id] == nil && record.isOver {
                left.remove(record.id)
                waiter.each(record)
            }
        } catch {
            reads.missed(ended: ids)
        }
        waiter.kind = .these(left)
        waiters.append(waiter)
        check()
    }

    /// Reports each job of a batch as it is over, also those that are over already, and calls `done` when the batch has
    /// ended.
    func wait(forBatch batch: Int, _ waiter: Waiter) {
        var waiter = waiter
        waiter.kind = .batch(batch)
        waiters.append(waiter)
        lookUp(batch: batch)
        check()
    }

    /// Something has become of a batch as a whole.
    func changed(batch: Int) {
        lookUp(batch: batch)
        check()
    }

    /// Tells of the jobs of a batch that are over, as far as they have not been told of, and whether it has ended.
    private func lookUp(batch: Int) {
        let which = waiters.indices.filter { if case .batch(batch) = waiters[$0].kind { true } else { false } }
        guard !which.isEmpty else { return }
        do {
            let hasEnded = try ledger.batches([batch])[batch]?.hasEnded ?? true
            var last = 0
            while case let over = try ledger.over(inBatch: batch, after: last, limit: Self.page), let end = over.last {
                last = end.id
                tell(over.filter { window[$0.id] == nil })
            }
            for index in which { waiters[index].batchHasEnded = hasEnded }
        } catch {
            reads.later()
        }
    }

    private static let page = 500

    /// Reports every job that ends, until nothing settles, waits or runs, and no original is on its way.
    func waitForAll(_ waiter: Waiter) {
        inboxes.catchUp { [self] _ in
            waiters.append(waiter)
            check()
        }
    }

    /// Calls `done` when none of these jobs is in work, and its end is recorded.
    func waitUntilStopped(_ ids: some Sequence<Int>, _ done: @escaping @Sendable () -> Void) {
        let present = Set(ids.filter { window[$0] != nil })
        guard !present.isEmpty else { return done() }
        waiters.append(Waiter(kind: .stopping(present), each: { _ in }, done: done))
    }

    /// Jobs are over: they have ended, and their originals lie where they belong.
    func ended(_ records: [JobRecord]) {
        tellDelays()
        tell(records)
        check()
    }

    private func tell(_ records: [JobRecord]) {
        for index in waiters.indices {
            for record in records {
                switch waiters[index].kind {
                case .everything: waiters[index].each(record)
                case .these(var left):
                    guard left.remove(record.id) != nil else { continue }
                    waiters[index].kind = .these(left)
                    waiters[index].each(record)
                case .batch(let batch):
                    guard record.batch == batch, waiters[index].told.insert(record.id).inserted else { continue }
                    waiters[index].each(record)
                case .stopping: break
                }
            }
        }
    }

    /// Nothing works on the job any more, and its end is recorded.
    func stopped(_ id: Int) {
        for index in waiters.indices {
            guard case .stopping(var left) = waiters[index].kind, left.remove(id) != nil else { continue }
            waiters[index].kind = .stopping(left)
        }
        check()
    }

    /// Rows were changed in bulk: the jobs that are waited for are looked up.
    func lookUp() {
        var ids: Set<Int> = []
        for case .these(let left) in waiters.map(\.kind) { ids.formUnion(left) }
        for case .batch(let batch) in waiters.map(\.kind) { lookUp(batch: batch) }
        lookUp(ids)
    }

    /// Tells of those jobs that are over.
    func lookUp(_ ids: Set<Int>) {
        let rows = ids.filter { window[$0] == nil }
        do {
            ended(try ledger.jobs(rows.sorted()).filter(\.isOver))
        } catch {
            reads.missed(ended: rows)
        }
    }

    /// Something has changed for which somebody may wait.
    func check() {
        waiters.removeAll { !$0.isWanted() }
        guard !waiters.isEmpty else { return }
        let isIdle = window.isRecorded && !counts.isBusy && inboxes.areIdle
        var over: [Waiter] = []
        waiters.removeAll { waiter in
            let isOver =
                switch waiter.kind {
                case .these(let left), .stopping(let left): left.isEmpty
                case .everything: isIdle && originalsRest
                case .batch: waiter.batchHasEnded
                }
            if isOver { over.append(waiter) }
            return isOver
        }
        for waiter in over { waiter.done() }
        tellDelays()
    }

    private var originalsRest: Bool {
        do {
            return try !ledger.movesOriginals()
        } catch {
            reads.later()
            return false
        }
    }

    private func tellDelays() {
        for (index, waiter) in waiters.enumerated() {
            let reason =
                switch waiter.kind {
                case .these(let left): delay(left)
                case .everything, .batch, .stopping: delay(nil)
                }
            guard reason != waiter.toldDelay else { continue }
            waiters[index].toldDelay = reason
            waiter.delayed(reason)
        }
    }
}
