import Dispatch
import PipelineModel
import Synchronization

/// Cancelling means stopped: `cancelled` is said only when it is true.
extension Supervisor {
    /// Cancels one job. Only one that is not yet publishing can be.
    private func cancel(_ job: Job) {
        guard !job.cancelRequested, !job.publishing, !job.ended else { return }
        job.cancelRequested = true
        if job.record.state == .running { move(job, to: .cancelling) }
        job.cancelOperations()
        settleCancelling(job)
    }

    /// Cancels the jobs of these IDs; `done` when none of them runs any more.
    func cancel(_ ids: [Int], done: @escaping @Sendable () -> Void) {
        let rows = ids.filter { window[$0] == nil }
        let windowed = ids.compactMap { window[$0] }
        for job in windowed { cancel(job) }
        let group = DispatchGroup()
        if !rows.isEmpty {
            group.enter()
            cancelRows(upTo: nextID - 1, ids: rows) { _ in group.leave() }
        }
        whenEnded(windowed.map(\.record.id)) {
            group.leave()
        } begin: {
            group.enter()
        }
        group.notify(queue: queue, execute: done)
    }

    /// Cancels everything that was accepted, claimed or settling before the call.
    func cancelAll(done: @escaping @Sendable (Int) -> Void) {
        catchUp(cancelling: true) { [self] in
            let before = counts[.cancelled] ?? 0
            let last = nextID - 1
            let windowed = Array(window.values)
            // The newest first: what is running gets free workers only when nothing is left to be started on them.
            for job in windowed.sorted(by: { $0.record.position > $1.record.position }) { cancel(job) }
            let group = DispatchGroup()
            group.enter()
            cancelRows(upTo: last, ids: nil) { _ in group.leave() }
            whenEnded(windowed.map(\.record.id)) {
                group.leave()
            } begin: {
                group.enter()
            }
            group.notify(queue: queue) { [self] in done((counts[.cancelled] ?? 0) - before) }
        }
    }

    /// Rows that are not in the window, with one statement; their originals follow in the background.
    private func cancelRows(upTo last: Int, ids: [Int]?, done: @escaping @Sendable (Int) -> Void) {
        fillHolds += 1
        let windowed = window.values.filter { $0.record.state == .queued }.map(\.record.id)
        ledger.cancelQueued(upTo: last, ids: ids, except: windowed, at: Timestamp.now()) { [self] count in
            queue.async { [self] in
                counts[.queued, default: 0] -= count
                counts[.cancelled, default: 0] += count
                fillHolds -= 1
                if count > 0 { disposeBacklog() }
                tellWaitersOfRows()
                fill()
                done(count)
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
        for inbox in inboxes {
            group.enter()
            inbox.catchUp(cancelling: cancelling) { group.leave() }
        }
        let once = Once(done)
        group.notify(queue: queue) { once.call() }
        queue.asyncAfter(deadline: .now() + .seconds(2)) { once.call() }
    }
}

/// A completion that has two ways to be reached, and counts once.
private final class Once: Sendable {
    private let body: Mutex<(@Sendable () -> Void)?>

    init(_ body: @escaping @Sendable () -> Void) { self.body = Mutex(body) }

    func call() {
        let taken = body.withLock { body in
            defer { body = nil }
            return body
        }
        taken?()
    }
}
