package import DaemonRuntime
import Dispatch
package import InboxWatching
import JobLedger
package import JobModel
package import PipelineModel
import ServiceProgram
import Synchronization

/// Applies users' changes to jobs: cancellations, priorities and dependencies. A job may be in the window of the job
/// queue, or only in the ledger.
@Coordination
package struct JobChanges {
    private let ledger: Ledger
    private let runner: JobRunner
    private let jobs: JobQueue
    private let inboxes: Inboxes
    private let waiters: Waiters

    init(
        _ ledger: Ledger, _ runner: JobRunner, _ jobs: JobQueue, _ inboxes: Inboxes, _ waiters: Waiters
    ) {
        (self.ledger, self.runner, self.jobs) = (ledger, runner, jobs)
        (self.inboxes, self.waiters) = (inboxes, waiters)
    }

    // MARK: - Cancelling

    /// Cancels the chosen jobs that were accepted before the call, and the chosen files that are settling in the
    /// inboxes in `some`. When none of these jobs runs any more, calls `done` with the number of cancelled jobs and
    /// files. `left` explains which inboxes could not cancel their files.
    package func cancel(
        _ choice: JobChoice, settling files: SettlingChoice = .all, in some: [Inbox],
        done: @escaping @Coordination @Sendable (_ cancelled: Int, _ left: String?) -> Void
    ) {
        let counted = Mutex((cancelled: 0, left: [String]()))
        let group = DispatchGroup()
        for _ in 0..<2 { group.enter() }
        // Starts with the inboxes. From now on, the intake enters each chosen file as a cancelled job instead of a
        // queued job.
        inboxes.catchUp(cancelling: files, some) { settling, left in
            counted.withLock { $0 = ($0.cancelled + settling, left) }
            group.leave()
        }
        cancel(choice) { jobs in
            counted.withLock { $0.cancelled += jobs }
            group.leave()
        }
        Coordination.notify(group) {
            let (cancelled, left) = counted.withLock { $0 }
            done(cancelled, left.isEmpty ? nil : "cancelled \(cancelled), but \(left.joined(separator: "\n"))")
        }
    }

    /// Cancels the chosen jobs, in the window and outside the window.
    package func cancel(_ choice: JobChoice, done: @escaping Done<Int>) {
        let chosen = jobs.all.filter { choice.speaks(of: $0.record) }
        let rows = Mutex(0)
        let group = DispatchGroup()
        for _ in 0..<2 { group.enter() }
        // Cancels the jobs outside the window first. If a job in the window were cancelled earlier, the jobs that
        // depend on it would fail instead of being cancelled.
        cancelRows(choice) { count in
            rows.withLock { $0 = count }
            group.leave()
        }
        // Cancels from the end of the queue. Otherwise, a worker freed by one cancellation would start another chosen
        // job.
        for job in chosen.sorted(by: { $0.record.position > $1.record.position }) {
            job.record.cause = choice.cause
            runner.cancel(job)
        }
        waiters.waitUntilStopped(chosen.lazy.map(\.record.id)) { group.leave() }
        Coordination.notify(group) { [ledger] in
            let rows = rows.withLock { $0 }
            // A job that had not begun leaves the window immediately, possibly before its cancellation is durable.
            ledger.whenDurable {
                Coordination.async {
                    let isCancelled: (Job) -> Bool = {
                        $0.record.state == .cancelled || $0.record.redoEnd == .cancelled
                    }
                    done(rows + chosen.count(where: isCancelled))
                }
            }
        }
    }

    /// Cancels the chosen jobs outside the window. Changes their rows in the ledger without loading the jobs. The
    /// daemon moves their originals later, in the background.
    private func cancelRows(_ choice: JobChoice, done: @escaping Done<Int>) {
        // Jobs that are about to be cancelled must not enter the window when other jobs leave it.
        jobs.suspendFilling()
        ledger.cancelQueued(upTo: jobs.numbers.lastID, choice, except: jobs.ids, at: Timestamp.now()) {
            [self] cancelled in
            Coordination.async { [self] in
                jobs.move(cancelled.queued, from: .queued, to: .cancelled)
                jobs.move(cancelled.waiting, from: .waiting, to: .cancelled)
                jobs.move(cancelled.queuedAgain, from: .queued, to: .done)
                jobs.move(cancelled.waitingAgain, from: .waiting, to: .done)
                jobs.meters.ended(cancelled.queued + cancelled.waiting, .cancelled)
                if cancelled.all > 0 { runner.events?.jobsEndedAsRows(cancelled.all) }
                waiters.lookUp()
                jobs.resumeFilling(arrived: nil)
                done(cancelled.all)
            }
        }
    }

    // MARK: - Order

    /// Changes the priority of the chosen jobs that have not begun. Calls `done` with the number of jobs that now have
    /// this priority.
    package func prioritise(_ choice: JobChoice, _ priority: Priority, done: @escaping Done<Int>) {
        // After the change, a job outside the window may precede a job in the window. So the chosen jobs first leave
        // the window. When the change is made, jobs enter the window in the new order.
        jobs.suspendFilling()
        for job in jobs.all where choice.speaks(of: job.record) && !runner.takeBack(job) {
            if job.record.state == .waiting { job.record.priority = priority.rank }
        }
        ledger.prioritise(choice, priority) { [jobs] count in
            Coordination.async {
                jobs.resumeFilling()
                done(count)
            }
        }
    }

    /// Changes the dependencies of a job that has not begun.
    package func depend(
        _ id: Int, after others: [Int], remove: [Int], anyway: Bool,
        done: @escaping Done<NeedsAnswer>
    ) {
        if let job = jobs[id], !runner.takeBack(job) { return done(.begun(job.record.state)) }
        // Keeps the job out of the window while its dependencies change.
        jobs.suspendFilling()
        ledger.depend(id, after: others, remove: remove, anyway: anyway) { [jobs] answer in
            Coordination.async {
                jobs.resumeFilling()
                done(answer)
            }
        }
    }

    /// Adopts the ledger's changes to dependent jobs after their dependencies have ended or were edited. Dependent jobs
    /// wait in the ledger, outside the window. When their dependencies end, the ledger queues or fails the dependent
    /// jobs in the same transaction.
    func adopt(_ consequences: Consequences) {
        jobs.add(consequences.counts)
        let failed = consequences.failed
        if let first = failed.first {
            let who = failed.count == 1 ? "job \(first)" : "job \(first), and \(failed.count - 1) more:"
            Log.failure(
                "\(who) failed, because a dependency failed or was cancelled; `pipectl show` says more",
                of: LogSubject(jobs: failed))
            runner.events?.jobsEndedAsRows(failed.count)
            jobs.meters.ended(failed.count, .failed)
        }
        if let released = consequences.released { jobs.fill(arrived: released) }
        waiters.check()
    }
}
