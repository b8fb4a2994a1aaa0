import Dispatch
import PipelineModel
import Synchronization

/// Cancelling means stopped: `cancelled` is said only when it is true.
extension Supervisor {
    /// Cancels one job. Only one that is not yet publishing can be.
    private func cancel(_ job: Job) {
        guard !job.cancelRequested, !job.publishing, !job.ended else { return }
        job.cancelRequested = true
        if [.running, .waiting].contains(job.record.state) { move(job, to: .cancelling) }
        job.cancelOperations()
        settleCancelling(job)
    }

    /// Cancels the jobs of these IDs; `done` when none of them runs any more.
    func cancel(_ ids: [Int], done: @escaping @Sendable () -> Void) {
        let wanted = Set(ids)
        stopJobs(window.values.filter { wanted.contains($0.record.id) }, rows: ids, done: done)
    }

    /// Cancels everything that was accepted, claimed or settling before the call; hands over how many that are.
    func cancelAll(done: @escaping @Sendable (Int) -> Void) {
        catchUp(cancelling: true) { [self] in
            let before = counts[.cancelled] ?? 0
            let settling = inboxes.reduce(0) { $0 + $1.report.settling }
            stopJobs(Array(window.values), rows: nil) { [self] in
                done((counts[.cancelled] ?? 0) - before + settling)
            }
        }
    }

    /// Stops jobs of the window, and rows: those of these IDs, or all there are.
    private func stopJobs(_ jobs: [Job], rows: [Int]?, done: @escaping @Sendable () -> Void) {
        // What leaves the window must not be followed by rows that are about to be cancelled.
        fillHolds += 1
        // The newest first: a worker that gets free finds nothing left to be started.
        for job in jobs.sorted(by: { $0.record.position > $1.record.position }) { cancel(job) }
        let group = DispatchGroup()
        group.enter()
        cancelRows(rows) { group.leave() }
        whenEnded(jobs.map(\.record.id)) {
            group.leave()
        } begin: {
            group.enter()
        }
        group.notify(queue: queue, execute: done)
    }

    /// Rows that are not in the window, with one statement; their originals follow in the background.
    private func cancelRows(_ ids: [Int]?, done: @escaping @Sendable () -> Void) {
        ledger.cancelQueued(upTo: nextID - 1, ids: ids, except: Array(window.keys), at: Timestamp.now()) {
            [self] queued, waiting in
            queue.async { [self] in
                let count = queued + waiting
                counts[.queued, default: 0] -= queued
                counts[.waiting, default: 0] -= waiting
                counts[.cancelled, default: 0] += count
                fillHolds -= 1
                if count > 0 { disposeBacklog() }
                tellWaitersOfRows()
                fill()
                done()
            }
        }
    }

    /// `leave` once for all of `ids`, when the last of them has ended.
    private func whenEnded(_ ids: [Int], leave: @escaping @Sendable () -> Void, begin: () -> Void) {
        let present = Set(ids.filter { window[$0] != nil })
        guard !present.isEmpty else { return }
        begin()
        waiters.append(Waiter(kind: .these(present), each: { _ in }, done: leave))
    }

    /// Lets every inbox look at what has happened before now; `done` on the supervisor's queue. One that hangs is not waited for.
    func catchUp(cancelling: Bool, done: @escaping @Sendable () -> Void) {
        let group = DispatchGroup()
        let once = Once(done)
        for inbox in inboxes {
            group.enter()
            inbox.catchUp(cancelling: cancelling, wanted: { !once.isOver }, done: { group.leave() })
        }
        group.notify(queue: queue) { once.call() }
        queue.asyncAfter(deadline: .now() + .seconds(2)) { once.call() }
    }
}

/// A completion that has two ways to be reached, and counts once.
private final class Once: Sendable {
    private let body: Mutex<(@Sendable () -> Void)?>

    init(_ body: @escaping @Sendable () -> Void) { self.body = Mutex(body) }

    var isOver: Bool { body.withLock { $0 == nil } }

    func call() {
        let taken = body.withLock { body in
            defer { body = nil }
            return body
        }
        taken?()
    }
}
