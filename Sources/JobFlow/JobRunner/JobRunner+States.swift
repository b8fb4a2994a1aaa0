import DaemonRuntime
import JobLedger
package import JobModel
import OperationGraph
import PictureFiles
import PipelineModel
import ServiceProgram

/// Changes the states of jobs in the window as `JobLife` demands, records each change, and takes jobs out of the
/// window.
extension JobRunner {
    // MARK: - Transitions

    /// Applies an event to the job's state, and carries out the effects. `reason` is shown while the job waits.
    func advance(_ job: Job, _ event: JobLife.Event, reason: String? = nil) {
        guard let transition = job.life.after(event) else {
            Log.failure("\(event) can't follow \(job.life) (job \(job.record.id))", of: LogSubject(job.record))
            return assertionFailure("\(event) can't follow \(job.life)")
        }
        job.life = transition.next
        if let state = job.life.state, state != job.record.state || (state == .waiting && reason != nil) {
            show(job, state, reason)
        }
        for effect in transition.effects {
            switch effect {
            case .keepPart: job.download?.keepPart()
            case .cancelOperations: job.cancelOperations()
            case .checkOperations: stopIfStill(job)
            case .discardFiles: discardFiles(of: job)
            case .leave(let stop): leave(job, because: stop)
            }
        }
    }

    private func show(_ job: Job, _ state: JobState, _ reason: String?) {
        jobs.move(from: job.record.state, to: state)
        job.record.state = state
        job.record.reason = reason
        ledger.record(job.record)
        if state == .waiting { events?.jobRested() }
    }

    // MARK: - Stopping

    /// Cancels a job, unless it is already publishing.
    func cancel(_ job: Job) { advance(job, .cancel) }

    /// Returns the job to the queue, because the daemon stops or another node has returned the picture.
    func giveBack(_ job: Job) { advance(job, .giveBack) }

    /// Takes a job that has not begun out of the window, and leaves it queued in the ledger. Returns false if the job
    /// has begun.
    func takeBack(_ job: Job) -> Bool {
        guard job.life.canBeWithdrawn, job.withdraw() else { return false }
        advance(job, .withdrawn)
        return true
    }

    /// Completes the stop of a job that has to leave the window, if all its operations have ended.
    func stopIfStill(_ job: Job) {
        guard case .stopping = job.life, job.isStill else { return }
        // If the job has a publish intent, its staging files stay. The next attempt publishes them, or the disposal of
        // the job removes them.
        advance(job, .stopped(leavesFiles: job.render.image != nil && job.record.intent == nil))
    }

    private func discardFiles(of job: Job) {
        let discarded: @Sendable () -> Void = { Coordination.async { self.advance(job, .discarded) } }
        if let image = job.render.image { operations.discard(image, then: discarded) } else { discarded() }
    }

    private func leave(_ job: Job, because stop: JobLife.Stop) {
        switch stop {
        case .cancel:
            leave(job, as: .cancelled)
            let record = job.record
            Log.notice("\(record.order.recipe): \(record.path) cancelled (job \(record.id))", of: LogSubject(record))
        case .wait(let reason): leaveToWait(job, .place, reason)
        case .giveBack:
            job.record.started = nil
            job.record.reason = nil
            leave(job, as: .queued)
        }
    }

    // MARK: - States

    /// Takes the job out of the window, and makes it wait in the ledger.
    func wait(_ job: Job, _ waitReason: JobRecord.WaitReason, _ reason: String) {
        advance(job, .leaves)
        leaveToWait(job, waitReason, reason)
    }

    private func leaveToWait(_ job: Job, _ waitReason: JobRecord.WaitReason, _ reason: String) {
        job.record.started = nil
        job.record.reason = reason
        job.record.waitReason = waitReason
        leave(job, as: .waiting)
    }

    func showWait(_ id: Int, _ reason: String?) {
        if let job = jobs[id] { advance(job, reason == nil ? .resumed : .delayed, reason: reason) }
    }

    /// Updates all jobs after queues were paused or resumed.
    func showPauses() {
        for job in jobs.all { showPause(job) }
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

    /// Takes the job out of the window, in its final state or as `waiting`.
    func finish(_ job: Job, _ state: JobState, done: @escaping @Sendable () -> Void = {}) {
        advance(job, .leaves)
        leave(job, as: state, done: done)
    }

    private func leave(_ job: Job, as state: JobState, done: @escaping @Sendable () -> Void = {}) {
        jobs.leave(job)
        // The row of a job that never began is still up to date, so nothing has to be recorded.
        if state == .queued, job.record.state == .queued {
            jobs.progress.left(job.record)
            events?.jobRested()
            return
        }
        // Passing a barrier does not start a new attempt.
        let goesOn = state == .waiting && job.record.waitReason == .barrier
        job.record.tries += goesOn ? max(0, job.tries - 1) : job.tries
        let former = job.record.state
        job.record.end(state, at: state.isFinal ? Timestamp.now() : nil)
        jobs.move(from: former, to: job.record.state)
        if state.isFinal { jobs.meters.ended(job.record) }
        let record = job.record
        jobs.beginEnding(record.id)
        ledger.record(record) { [self] in
            Coordination.async { [self] in
                // `done` may begin another job's publication, so it must not run on the ledger's queue.
                done()
                // Staging files are needed until the new state is recorded, so they are removed only now. Staging files
                // that belong to a publish intent stay.
                if record.intent == nil, state == .failed || (state == .waiting && !goesOn),
                    let image = job.render.image
                {
                    operations.discard(image)
                }
                jobs.progress.left(record)
                jobs.finishEnding(record.id, arrived: state == .queued ? Priority(rank: record.priority) : nil)
                if state.isFinal {
                    events?.jobEnded(record)
                }
                events?.jobRested()
            }
        }
        jobs.fill(arrived: nil)
    }

    /// Moves a job straight to its next barrier, because it has no work before the barrier. The job does not enter the
    /// window.
    func arrive(_ record: JobRecord) {
        var record = record
        record.arrive()
        jobs.move(from: .queued, to: .waiting)
        record.state = .waiting
        jobs.beginEnding(record.id)
        ledger.record(record) { [self, id = record.id] in
            Coordination.async { [self] in
                jobs.finishEnding(id)
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
