package import DaemonRuntime
package import JobLedger
import OperationGraph
import PictureFiles
import PipelineModel

/// Changes the states of jobs in the window, records each change, and takes jobs out of the window.
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

    /// Cancels a job, unless it is already publishing.
    func cancel(_ job: Job) {
        guard job.wish != .cancel, [.working, .discarding].contains(job.phase) else { return }
        job.wish = .cancel
        if [.running, .waiting].contains(job.record.state) { move(job, to: .cancelling) }
        job.cancelOperations()
        stopIfStill(job)
    }

    /// Returns the job to the queue: the daemon stops, or another node has returned the picture.
    func giveBack(_ job: Job) {
        guard job.wish != .cancel, [.working, .discarding].contains(job.phase) else { return }
        job.wish = .giveBack
        job.download?.keepPart()
        job.cancelOperations()
        stopIfStill(job)
    }

    /// Turns a job that has not begun into a row again; false if it has begun.
    func takeBack(_ job: Job) -> Bool {
        guard job.record.state == .queued, !job.isToLeave, job.withdraw() else { return false }
        job.wish = .giveBack
        stopIfStill(job)
        return true
    }

    /// Ends a job that has to stop, once none of its operations works any more.
    func stopIfStill(_ job: Job) {
        guard job.wish != nil, job.phase == .working, job.isStill else { return }
        // The intent names the staging files: the next attempt publishes them, or the disposal takes them back.
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

    /// Takes the job out of the window, to wait as a row.
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

    /// Updates all jobs after queues were paused or resumed.
    func showPauses() {
        for job in window.all { showPause(job) }
    }

    /// Shows a pause as the reason why a rendered job does not publish yet, or a downloaded job does not render yet.
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

    /// Takes the job out of the window: in its last state, as `queued` to be taken again, or as `waiting`.
    func finish(_ job: Job, _ state: JobState, done: @escaping @Sendable () -> Void = {}) {
        job.phase = .ended
        window.leave(job)
        // A job that never began is still recorded as the row it was.
        if state == .queued, job.record.state == .queued {
            progress.left(job.record)
            events?.jobRested()
            return
        }
        // Passing a barrier does not start a new attempt.
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
            // Staging files are needed until this is recorded. Those of an intent stay.
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

    /// Lets a row wait at a barrier without entering the window, because its chains begin with one.
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
    /// Moves the record to the next barrier.
    package mutating func arrive() {
        segment += 1
        waitReason = .barrier
        reason = "barrier: waits for the others of batch \(batch ?? 0)"
    }
}
