import DaemonRuntime
import Dispatch
import InboxWatching
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
    func cancel(_ ids: [Int], done: @escaping @Coordination @Sendable () -> Void) {
        stopJobs(JobChoice(ids: ids)) { _ in done() }
    }

    /// Cancels everything that was accepted, claimed or settling before the call; hands over how many that are.
    func cancelAll(done: @escaping @Coordination @Sendable (Int) -> Void) {
        cancel(JobChoice(), settlingIn: inboxes, done: done)
    }

    /// Cancels what is chosen, and what settles in these inboxes.
    func cancel(_ choice: JobChoice, settlingIn some: [Inbox], done: @escaping @Coordination @Sendable (Int) -> Void) {
        catchUp(cancelling: true, some) { [self] in
            let settling = some.reduce(0) { $0 + $1.report.settling }
            stopJobs(choice) { done($0 + settling) }
        }
    }

    /// Stops jobs of the window, and rows; hands over how many of them are cancelled.
    private func stopJobs(_ choice: JobChoice, done: @escaping @Coordination @Sendable (Int) -> Void) {
        let jobs = window.all.filter { choice.speaks(of: $0.record) }
        let group = DispatchGroup()
        let rows = Mutex(0)
        group.enter()
        // The rows first: what comes after a job of the window, and is to be cancelled with it, does not fail instead.
        cancelRows(choice) { count in
            rows.withLock { $0 = count }
            group.leave()
        }
        // The newest first: a worker that gets free finds nothing left to be started.
        for job in jobs.sorted(by: { $0.record.position > $1.record.position }) { cancel(job) }
        whenEnded(jobs.map(\.record.id)) {
            group.leave()
        } begin: {
            group.enter()
        }
        // Those that have ended at once are recorded as that before it is told.
        group.enter()
        ledger.write(wanted: .now, { _, _ in }, done: { group.leave() })
        Coordination.notify(group) { [self] in
            whenAnnounced { done(rows.withLock { $0 } + jobs.count { $0.record.state == .cancelled }) }
        }
    }

    /// Rows that are not in the window, with one statement; their originals follow in the background.
    private func cancelRows(_ choice: JobChoice, done: @escaping @Coordination @Sendable (Int) -> Void) {
        // What leaves the window must not be followed by rows that are about to be cancelled.
        fillHolds += 1
        ledger.cancelQueued(upTo: nextID - 1, choice, except: window.ids, at: Timestamp.now()) {
            [self] queued, waiting in
            Coordination.async { [self] in
                let count = queued + waiting
                counts[.queued, default: 0] -= queued
                counts[.waiting, default: 0] -= waiting
                counts[.cancelled, default: 0] += count
                fillHolds -= 1
                if count > 0 { disposeBacklog() }
                tellWaitersOfRows()
                fill(arrived: nil)
                done(count)
            }
        }
    }

    /// `leave` once for all of `ids`, when the last of them has ended.
    private func whenEnded(_ ids: [Int], leave: @escaping @Sendable () -> Void, begin: () -> Void) {
        let present = Set(ids.filter { window[$0] != nil })
        guard !present.isEmpty else { return }
        begin()
        waiters.append(Waiter(kind: .stopping(present), each: { _ in }, done: leave))
    }

    /// Lets every inbox look at what has happened before now; then `done`. One that hangs is not waited for.
    func catchUp(cancelling: Bool, _ some: [Inbox], done: @escaping @Coordination @Sendable () -> Void) {
        let group = DispatchGroup()
        let once = Once(done)
        for inbox in some {
            group.enter()
            inbox.catchUp(cancelling: cancelling, wanted: { !once.isOver }, done: { group.leave() })
        }
        Coordination.notify(group) { once.call() }
        Coordination.after(.seconds(2)) { once.call() }
    }
}

/// A completion that has two ways to be reached, and counts once.
private final class Once: Sendable {
    private let body: Mutex<(@Coordination @Sendable () -> Void)?>

    init(_ body: @escaping @Coordination @Sendable () -> Void) { self.body = Mutex(body) }

    var isOver: Bool { body.withLock { $0 == nil } }

    @Coordination
    func call() {
        let taken = body.withLock { body in
            defer { body = nil }
            return body
        }
        taken?()
    }
}
