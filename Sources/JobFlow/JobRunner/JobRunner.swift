import DaemonConfiguration
package import DaemonRuntime
import JobLedger
import JobModel
import OperationGraph
import PictureFiles
import PipelineModel
import ServiceProgram
import WorkerPools

/// Takes each job through the window, from the moment when its row is read until the job leaves the window. The runner
/// translates the reports of the job's operations into events for `JobLife`, and carries out the effects that follow.
/// The runner never reads a picture, because that is the workers' task, and never waits for a disk.
@Coordination
package final class JobRunner: JobQueueDelegate, JobOperationsDelegate {
    let ledger: Ledger
    let configuration: ConfigurationInForce
    let queues: Queues
    let jobs: JobQueue
    let operations: JobOperations
    let shortages: Shortages
    var crashes = FilterCrashes()
    /// Batches whose arrival at a barrier is being announced.
    private var announcing: Set<Int> = []
    weak var events: (any DaemonEvents)?
    private lazy var hangs = Repetition(
        after: { [configuration] in Coordination.after(configuration.settings.hangTimeout, $0) },
        while: { [weak self] in self?.jobs.all.contains { $0.record.state != .queued } ?? false }
    ) { [weak self] in self?.lookForHangs() }

    init(
        _ ledger: Ledger, _ configuration: ConfigurationInForce, _ queues: Queues, _ jobs: JobQueue,
        _ operations: JobOperations, _ shortages: Shortages
    ) {
        (self.ledger, self.configuration, self.queues, self.jobs) = (ledger, configuration, queues, jobs)
        (self.operations, self.shortages) = (operations, shortages)
        jobs.delegate = self
        operations.delegate = self
        shortages.delegate = self
    }

    // MARK: - Beginning

    func take(_ row: JobRecord) -> Bool {
        if isSetAside(row) { return false }
        guard let job = operations.job(for: row) else {
            arrive(row)
            return true
        }
        jobs.enter(job)
        operations.start(job)
        return true
    }

    // MARK: - Reports of operations

    func downloading(_ job: Job, _ state: OperationState) {
        if state.isFinal {
            shortages.answered(job.record.id)
            jobs.downloaded(job)
        }
        switch state {
        case .executing:
            guard job.record.state == .queued else { return }
            job.record.started = Timestamp.now()
            job.begin("download")
            advance(job, .began)
            hangs.begin()
        case .finished:
            if let response = job.download?.response { recordDownload(job, response) }
            showPause(job)
            stopIfStill(job)
        case .failed:
            job.end("download", job.download?.failure, job.download?.account)
            job.record.partial = job.download?.partial
            job.cancelOperations()
            fail(job, job.download?.failure ?? JobFailure("the download failed"))
        case .cancelled:
            job.end("download", state, nil, job.download?.account)
            job.record.partial = job.download?.partial
            stopIfStill(job)
        case .pending, .ready: break
        }
    }

    func recordPart(_ id: Int, _ part: FetchResume?, _ recorded: @escaping @Sendable () -> Void) {
        guard let job = jobs[id], job.download?.state == .executing else { return recorded() }
        job.record.partial = part
        ledger.recordPart(of: job.record, done: recorded)
    }

    /// Records the downloaded file as the job's original. The file stays in the spool, like a file from `pipectl add`.
    /// Once the file is recorded, the daemon never downloads it again, not even after a crash.
    private func recordDownload(_ job: Job, _ response: DownloadOperation.Response) {
        job.record.path = response.name
        job.record.file = response.file
        job.record.partial = nil
        let from = response.url == job.record.url ? "" : " from \(WebAddress.shown(response.url))"
        job.end("download", .finished, "\(response.bytes) bytes\(from)", job.download?.account)
        ledger.recordDownload(of: job.record)
        ledger.record(job.record)
    }

    /// Records the name of a picture that another node has downloaded and rendered. This node has no original.
    private func recordRemoteDownload(_ job: Job, _ name: String) {
        job.record.path = name
        ledger.recordDownload(of: job.record)
    }

    func rendering(_ job: Job, _ state: OperationState) {
        if state.isFinal { shortages.answered(job.record.id) }
        switch state {
        case .executing:
            job.begin("render")
            // A job that has passed a barrier keeps the start time of its first segment.
            if job.record.state == .queued, job.record.segment == 0 || job.record.started == nil {
                job.record.started = Timestamp.now()
            }
            advance(job, .began)
            hangs.begin()
        case .finished:
            if let name = job.render.downloadedName { recordRemoteDownload(job, name) }
            if job.record.segment == 0 { job.note(job.render.header) }
            job.end("render", state, job.render.detail, job.render.account)
            showPause(job)
            stopIfStill(job)
            if job.publish == nil { cross(job) }
            // A drain does not wait for rendered jobs that can't be published, so this event may complete a drain.
            events?.jobRested()
        case .failed:
            job.note(job.render.header)
            job.end("render", job.render.failure, job.render.account)
            job.announce?.cancel()
            job.publish?.cancel()
            fail(job, job.render.failure ?? JobFailure("rendering failed"))
        case .cancelled:
            job.end("render", state, job.render.fallbackReason?.message, job.render.account)
            if let reason = job.render.fallbackReason, job.life.goesOn {
                operations.downloadHere(job.record, because: reason)
                return giveBack(job)
            }
            stopIfStill(job)
        case .pending, .ready: break
        }
    }

    func lost(_ id: Int, _ failure: JobFailure, _ account: JobStory.Account) {
        guard let job = jobs[id] else { return }
        job.end("render", failure, account)
        job.begin("render")
    }

    /// Hands the rendered pictures over to the next segment, then makes the job wait at the barrier.
    private func cross(_ job: Job) {
        guard let image = job.render.image else { return }
        operations.keep(image, in: job.record.order.outbox) { [self] error in
            guard job.life.goesOn else { return }
            if let error {
                let failure = JobFailure(error, inOutboxDuring: "handing over the pictures made before the barrier")
                return fail(job, failure)
            }
            job.record.staged += image.staged.compactMap { file in
                file.result.map { .init(index: file.picture.index, path: file.path, result: $0) }
            }
            job.record.arrive()
            finish(job, .waiting)
        }
    }

    func publishing(_ job: Job, _ state: OperationState) {
        if state.isFinal { shortages.answered(job.record.id) }
        // This report may arrive after the job has ended.
        guard job.life != .ended else { return }
        switch state {
        case .executing:
            job.begin("publish")
            if job.record.intent != nil { advance(job, .resumesIntent) }
            advance(job, .resumed)
        case .failed:
            advance(job, .publishingFailed)
            job.end("publish", job.publish?.failure)
            if job.publish?.isLost == true { job.record.intent = nil }
            fail(job, job.publish?.failure ?? JobFailure("publishing failed"))
        case .cancelled:
            job.end("publish", state)
            if let failure = job.refusal { fail(job, failure) } else { stopIfStill(job) }
        case .pending, .ready, .finished: break
        }
    }

    /// Records the publish intent. From then on, the job can no longer be cancelled.
    func intend(_ id: Int, _ intent: PublishIntent, _ done: @escaping @Sendable (Bool) -> Void) {
        guard let job = jobs[id], job.life.goesOn else { return done(false) }
        // The job's earlier intent; nil if there is none. An earlier intent exists if another file has taken the name
        // of a result meanwhile. In that case, this call replaces the intent.
        let former = job.record.intent
        advance(job, .intends)
        job.record.intent = intent
        ledger.record(intent: intent, of: id) {
            done(true)
        } refused: {
            Coordination.async { [self] in
                if former == nil { advance(job, .intentRefused) }
                job.record.intent = former
                job.refusal = .unrecordedIntent
                done(false)
            }
        }
    }

    func conclude(_ id: Int, _ outcome: Publisher.Outcome, _ done: @escaping @Sendable () -> Void) {
        guard let job = jobs[id] else { return done() }
        let published = outcome.published
        let chosen = job.record.intent?.resultCount ?? job.record.plan.results.count
        job.record.conclude(outcome)
        job.end("publish", .finished, job.publish?.detail)
        if chosen == 0 {
            let reasons = job.render.unwanted.map(\.words).joined(separator: "; ")
            job.record.reason = "no output wants it" + (reasons.isEmpty ? "" : ": \(reasons)")
        } else if published.count < chosen {
            let skipped = "not everything was published: a name is taken, and Conflict=skip"
            job.record.reason = [skipped, outcome.left.saidToStay].compactMap(\.self).joined(separator: "; ")
        }
        crashes.passed(job.record.order)
        let line = job.record.line(configuration.places, end: Timestamp.now())
        let subject = LogSubject(job.record)
        job.announce?.announces { Log.notice(line, of: subject) }
        finish(job, .done, done: done)
    }

    // MARK: - Batches

    /// Announces that a batch has ended or has reached a barrier. Releases the jobs that wait at the barrier.
    func announce(_ news: BatchNews, of batch: Int) {
        switch news {
        case .ended:
            queues.announce.add(AnnounceOperation(), of: OperationSubject.batch(batch, news))
            events?.batchEnded(batch)
        case .joined: release(batch) {}
        case .arrived:
            guard announcing.insert(batch).inserted else { return }
            queues.announce.add(
                AnnounceOperation { [self] in release(batch, done: $0) }, of: OperationSubject.batch(batch, news))
        }
    }

    nonisolated private func release(_ batch: Int, done: @escaping @Sendable () -> Void) {
        ledger.release(batch) { [self] released in
            Coordination.async { [self] in
                // `done` ends this operation, and the next operation may then begin on the same thread. So `done` must
                // not run on the ledger's queue.
                done()
                announcing.remove(batch)
                if released > 0 { jobs.cameBack(released) }
            }
        }
    }
}
