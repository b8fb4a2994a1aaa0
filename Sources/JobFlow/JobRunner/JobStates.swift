package import DaemonRuntime
package import JobLedger
import OperationGraph
import PictureFiles
import PipelineModel

/// Changes the states of jobs in the window, records each change, and lets the jobs leave.
@Coordination
package final class JobStates {
    private let ledger: Ledger
    private let queues: Queues
    private let window: Window
    private let counts: JobCounts
    private let meters: Meters
    private let operations: JobOperations
    private let originals: OriginalMover
    private let waiters: Waiters
    private let progress: ProgressBoard
    private let history: History
    weak var events: (any DaemonEvents)?

    init(
        _ ledger: Ledger, _ queues: Queues, _ window: Window, _ counts: JobCounts, _ meters: Meters,
        _ operations: JobOperations, _ originals: OriginalMover, _ waiters: Waiters, _ progress: ProgressBoard,
        _ history: History
    ) {
        (self.ledger, self.queues, self.window, self.counts) = (ledger, queues, window, counts)
        (self.meters, self.operations, self.originals, self.waiters) = (meters, operations, originals, waiters)
        (self.progress, self.history) = (progress, history)
    }

    // MARK: - Stopping

    /// Cancels one job. Only one that is not yet publishing can be.
    func cancel(_ job: Job) {
        guard job.wish != .cancel, [.working, .discarding].contains(job.phase) else { return }
        job.wish = .cancel
        if [.running, .waiting].contains(job.record.state) { move(job, to: .cancelling) }
        job.cancelOperations()
        stopIfStill(job)
    }

    /// The daemon stops: the job goes back to the queue.
    func giveBack(_ job: Job) {
        guard job.wish != .cancel, [.working, .discarding].contains(job.phase) else { return }
        job.wish = .giveBack
        job.download?.keepPart()
        job.cancelOperations()
        stopIfStill(job)
    }

    /// A job that has not begun is a row again; false when it has begun.
    func takeBack(_ job: Job) -> Bool {
        guard job.record.state == .queued, !job.isToLeave, job.withdraw() else { return false }
        job.wish = .giveBack
        stopIfStill(job)
        return true
    }

    /// A job that is to stop has stopped once none of its operations works any more.
    func stopIfStill(_ job: Job) {
        guard job.wish != nil, job.phase == .working, job.isStill else { return }
        // An intent speaks of what is staged: the next try publishes it, or the disposal takes it back.
        guard let image = job.render.image, job.record.intent == nil else { return stopped(job) }
        job.phase = .discarding
        operations.discard(image) { Coordination.async { self.stopped(job) } }
    }

    private func stopped(_ job: Job) {
        guard job.phase != .ended else { return }
        switch job.wish {
        case .cancel:
            finish(job, .cancelled)
            let record = job.record
            Log.notice("\(record.order.recipe): \(record.path) cancelled (job \(record.id))", of: LogSubject(record))
        case .wait(let reason): wait(job, .place, reason)
        case .giveBack, nil:
            job.record.started = nil
            job.record.reason = nil
            finish(job, .queued)
        }
    }

    // MARK: - States

    /// The job leaves the window, and waits as a row.
    func wait(_ job: Job, _ waitReason: JobRecord.WaitReason, _ reason: String) {
        job.record.started = nil
        job.record.reason = reason
        job.record.waitReason = waitReason
        finish(job, .waiting)
    }

    func showWait(_ id: Int, _ reason: String?) {
        guard let job = window[id] else { return }
        switch (job.record.state, reason) {
        case (.running, .some), (.waiting, .some):
            move(job, to: .waiting, reason: reason)
            events?.jobRested()
        case (.waiting, nil): move(job, to: .running)
        default: break
        }
    }

    /// Queues were paused, or go on.
    func showPauses() {
        for job in window.all { showPause(job) }
    }

    /// A rendered job that is not yet being published waits behind a pause of that queue; so does a downloaded job that
    /// is not yet rendered.
    func showPause(_ job: Job) {
        let isRendered = job.render.state == .finished
        guard isRendered || job.download?.state == .finished,
            (isRendered ? job.publish?.hasBegun : job.render.hasBegun) == false
        else { return }
        let report = isRendered ? queues.publish.report : queues.render.report
        showWait(job.record.id, report.paused ? report.pauseText : nil)
    }

    func move(_ job: Job, to state: JobState, reason: String? = nil) {
        counts.move(from: job.record.state, to: state)
        job.record.state = state
        job.record.reason = reason
        ledger.record(job.record)
    }

    /// The job leaves the window in its last state, `queued` when the daemon stops, or `waiting`.
    func finish(_ job: Job, _ state: JobState, done: @escaping @Sendable () -> Void = {}) {
        job.phase = .ended
        window.leave(job)
        // A job that goes back without having begun is a row as before.
        if state == .queued, job.record.state == .queued {
            progress.left(job.record)
            events?.jobRested()
            return
        }
        // Beyond a barrier it is still the same try.
        let goesOn = state == .waiting && job.record.waitReason == .barrier
        job.record.tries += goesOn ? max(0, job.tries - 1) : job.tries
        let former = job.record.state
        job.record.end(state, at: state.isFinal ? Timestamp.now() : nil)
        counts.move(from: former, to: job.record.state)
        if state.isFinal { meters.ended(job.record) }
        let record = job.record
        window.beginEnding(record.id)
        ledger.record(record) { [self] in
            done()
            // Once this is recorded nobody asks any more what has been published of it. An intent keeps what was made.
            if record.intent == nil, state == .failed || (state == .waiting && !goesOn), let image = job.render.image {
                operations.discard(image)
            }
            Coordination.async { [self] in
                progress.left(record)
                window.finishEnding(record.id, arrived: state == .queued ? Priority(rank: record.priority) : nil)
                if state.isFinal {
                    waiters.stopped(record.id)
                    originals.dispose(record)
                    history.ended(1)
                }
                events?.jobRested()
            }
        }
        window.fill(arrived: nil)
    }

    /// The chains of this row begin with a barrier: it waits there without having been in the window.
    func arrive(_ record: JobRecord) {
        var record = record
        record.arrive()
        counts.move(from: .queued, to: .waiting)
        record.state = .waiting
        window.beginEnding(record.id)
        ledger.record(record) { [self, id = record.id] in
            Coordination.async { [self] in
                window.finishEnding(id)
                events?.jobRested()
            }
        }
    }
}

extension JobRecord {
    /// It has arrived at a barrier.
    package mutating func arrive() {
        segment += 1
        waitReason = .barrier
        reason = "barrier: waits for the others of batch \(batch ?? 0)"
    }
}
