import DaemonRuntime
import JobLedger
import OperationGraph
import PipelineModel
import SystemCalls
import WorkerProtocol

/// Leads each job through the window: from its row, by what its operations report, to its end. It never reads a picture:
/// workers do, and answer. It waits for no disk.
@Coordination
final class Supervisor: WindowDelegate, JobOperationsDelegate, ShortagesDelegate {
    private let ledger: Ledger
    private let configuration: ConfigurationInForce
    private let queues: Queues
    private let window: Window
    private let counts: JobCounts
    private let operations: JobOperations
    private let shortages: Shortages
    private let hangs: HangWatch
    private let retries: Retries
    private let strikes: Strikes
    private let disposals: Disposals
    private let waiters: Waiters
    private let progress: ProgressBoard
    private let history: History
    /// Called when a job has left the window, and when its end is recorded.
    var left: @Coordination () -> Void = {}

    init(
        _ ledger: Ledger, _ configuration: ConfigurationInForce, _ queues: Queues, _ window: Window,
        _ counts: JobCounts, _ operations: JobOperations, _ shortages: Shortages, _ hangs: HangWatch,
        _ retries: Retries, _ strikes: Strikes, _ disposals: Disposals, _ waiters: Waiters, _ progress: ProgressBoard,
        _ history: History
    ) {
        (self.ledger, self.configuration, self.queues) = (ledger, configuration, queues)
        (self.window, self.counts, self.operations) = (window, counts, operations)
        (self.shortages, self.hangs, self.retries, self.strikes) = (shortages, hangs, retries, strikes)
        (self.disposals, self.waiters, self.progress, self.history) = (disposals, waiters, progress, history)
        window.delegate = self
        operations.delegate = self
        shortages.delegate = self
    }

    // MARK: - Beginning

    func take(_ row: JobRecord) -> Bool {
        // The filter is missing: the job would only fail.
        if let missing = shortages.first(where: { $0.isFilter && row.order.needs($0) }),
            let shortage = shortages[missing]
        {
            setAside(missing, because: shortage.reason)
            return false
        }
        guard let job = operations.job(for: row) else {
            arrive(row)
            return true
        }
        window.enter(job)
        progress.entered(job)
        operations.start(job)
        return true
    }

    /// A job whose chains begin with a barrier.
    private func arrive(_ record: JobRecord) {
        var record = record
        record.arrive()
        counts.move(from: .queued, to: .waiting)
        record.state = .waiting
        window.beginEnding(record.id)
        ledger.record(record) { [self, id = record.id] in
            Coordination.async { [self] in
                window.finishEnding(id)
                left()
            }
        }
    }

    // MARK: - What operations report

    func downloading(_ job: Job, _ state: OperationState) {
        if state.isFinal {
            shortages.answered(job.record.id)
            window.downloaded(job)
        }
        switch state {
        case .executing:
            guard job.record.state == .queued else { return }
            job.record.started = Timestamp.now()
            job.begin("DownloadOperation", "download")
            move(job, to: job.wish == .cancel ? .cancelling : .running)
            watchForHangs()
        case .finished:
            if let response = job.download?.response { came(job, response) }
            showHeld(job)
            settle(job)
        case .failed:
            job.end("DownloadOperation", job.download?.failure, job.download?.account)
            job.record.partial = job.download?.partial
            job.cancelOperations()
            if job.isToLeave { return settle(job) }
            fail(job, job.download?.failure ?? JobFailure("the download failed"))
        case .cancelled:
            job.end("DownloadOperation", state, nil, job.download?.account)
            settle(job)
        case .pending, .ready: break
        }
    }

    /// What has come is an original like one that `pipectl add` has passed: it lies in the spool, and is not downloaded
    /// again, not even after a crash.
    private func came(_ job: Job, _ response: DownloadOperation.Response) {
        job.record.path = response.name
        job.record.file = response.file
        job.record.partial = nil
        let from = response.url == job.record.url ? "" : " from \(WebAddress.shown(response.url))"
        job.end("DownloadOperation", .finished, "\(response.bytes) bytes\(from)", job.download?.account)
        ledger.recordDownload(of: job.record)
        ledger.record(job.record)
    }

    func rendering(_ job: Job, _ state: OperationState) {
        if state.isFinal { shortages.answered(job.record.id) }
        switch state {
        case .executing:
            job.begin("RenderOperation", "render")
            guard job.record.state == .queued else { return hold(job.record.id, nil) }
            // Beyond a barrier it goes on.
            if job.record.segment == 0 || job.record.started == nil { job.record.started = Timestamp.now() }
            move(job, to: job.wish == .cancel ? .cancelling : .running)
            watchForHangs()
        case .finished:
            if job.record.segment == 0 { job.tell(job.render.header) }
            job.end("RenderOperation", state, job.render.detail, job.render.account)
            showHeld(job)
            settle(job)
            if job.publish == nil { cross(job) }
        case .failed:
            job.tell(job.render.header)
            job.end("RenderOperation", job.render.failure, job.render.account)
            job.announce?.cancel()
            job.publish?.cancel()
            if job.isToLeave { return settle(job) }
            fail(job, job.render.failure ?? JobFailure("rendering failed"))
        case .cancelled:
            job.end("RenderOperation", state, nil, job.render.account)
            settle(job)
        case .pending, .ready: break
        }
    }

    func lost(_ id: Int, _ failure: JobFailure, _ account: JobStory.Account) {
        guard let job = window[id] else { return }
        job.end("RenderOperation", failure, account)
        job.begin("RenderOperation", "render")
    }

    /// What comes before a barrier is made.
    private func cross(_ job: Job) {
        guard let image = job.render.image, job.phase != .ended else { return }
        operations.keep(image, in: job.record.order.outbox) { [self] error in
            guard job.phase != .ended, job.wish == nil else { return }
            if let error {
                let failure = JobFailure(error, inOutboxDuring: "handing over what was made before the barrier")
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
        // A job may have been stopped before it is told that its operation began, and failed.
        guard job.phase != .ended else { return }
        switch state {
        case .executing:
            job.begin("PublishOperation", "publish")
            if job.record.intent != nil, job.phase == .working { job.phase = .publishing }
            hold(job.record.id, nil)
        case .failed:
            if job.phase == .publishing { job.phase = .working }
            job.end("PublishOperation", job.publish?.failure)
            if job.publish?.isLost == true { job.record.intent = nil }
            fail(job, job.publish?.failure ?? JobFailure("publishing failed"))
        case .cancelled:
            job.end("PublishOperation", state)
            if let failure = job.refusal { fail(job, failure) } else { settle(job) }
        case .pending, .ready, .finished: break
        }
    }

    /// The publish intent: from here on the job ends `done`, unless it has been cancelled before.
    func intend(_ id: Int, _ intent: PublishIntent, _ done: @escaping @Sendable (Bool) -> Void) {
        guard let job = window[id], !job.isToLeave else { return done(false) }
        // The first, or one that was recorded before a name was taken by somebody else.
        let former = job.record.intent
        job.phase = .publishing
        job.record.intent = intent
        ledger.record(intent: intent, of: id) {
            done(true)
        } refused: {
            Coordination.async {
                if former == nil, job.phase == .publishing { job.phase = .working }
                job.record.intent = former
                job.refusal = .unrecordedIntent
                done(false)
            }
        }
    }

    func conclude(_ id: Int, _ published: [Publisher.Published], _ done: @escaping @Sendable () -> Void) {
        guard let job = window[id] else { return done() }
        job.record.outputs = published.map(\.path)
        job.record.intent = nil
        let pictures = published.compactMap(\.picture)
        if !pictures.isEmpty { job.record.story?.after = pictures }
        job.end("PublishOperation", .finished)
        if published.count < job.record.plan.results.count {
            job.record.reason = "not everything was published: a name is taken, and Conflict=skip"
        }
        finish(job, .done, done: done)
        Log.notice(job.record.line(configuration.places), of: LogSubject(job.record))
    }

    // MARK: - Failing

    /// The class of a failure decides what becomes of its job.
    private func fail(_ job: Job, _ failure: JobFailure) {
        guard job.phase != .ended else { return }
        if job.isToLeave { return settle(job) }
        job.record.error = failure.message
        job.record.advice = failure.advice
        job.record.failure = failure.class
        job.record.story?.stage = failure.stage
        if failure.class.remedy == .room { return waitForRoom(job, failure) }
        if waitsForResource(job) { return }
        switch failure.class.remedy {
        case .later: retryLater(job, failure)
        case .mended: waitForMending(job, failure)
        case .none, .room, .alone: end(job, failure)
        }
    }

    private func end(_ job: Job, _ failure: JobFailure) {
        let words = job.record.setbacks == 0 ? "" : "; it was tried \(job.record.setbacks + 1) times"
        job.record.error = failure.message + words
        finish(job, .failed)
        if let culprit = failure.culprit { strike(culprit, by: job) }
        Log.failure(
            "\(job.record.order.recipe): \(job.record.path) failed: \(failure.message)\(words)"
                + (failure.advice.map { "; \($0)" } ?? "") + " (job \(job.record.id))",
            of: LogSubject(job.record, failure))
    }

    /// Another try after a while, longer each time, and not for ever.
    private func retryLater(_ job: Job, _ failure: JobFailure) {
        let retry = configuration.settings.retry
        guard job.record.setbacks < retry.tries else { return end(job, failure) }
        job.record.setbacks += 1
        let pause = retry.pause(before: job.record.setbacks, asked: failure.retryAfter, chance: .random(in: 0...1))
        let due = Timestamp.now() + pause / .seconds(1)
        job.record.due = due
        wait(
            job, .retry,
            "retry at \(Timestamp.local(due)) (\(job.record.setbacks) of \(retry.tries)): \(failure.message)")
        Log.notice(
            "\(job.record.order.recipe): \(job.record.path): \(job.record.reason ?? "") (job \(job.record.id))",
            of: LogSubject(job.record, failure))
        retries.make(at: due)
    }

    /// A job has failed inside this filter. After `CrashStrikes=` different pictures in a row the recipes that use it wait
    /// until there is another version of it.
    private func strike(_ filter: String, by job: Job) {
        let count = strikes.strike(filter, with: job.record.path)
        guard count >= configuration.settings.crashStrikes, shortages[.filter(filter)] == nil else { return }
        let pictures = count == 1 ? "picture" : "pictures in a row"
        let reason = "\(Resource.filter(filter)) has crashed or hung with \(count) \(pictures)"
        shortages.begin(Shortage(reason: reason, need: .replacement), of: .filter(filter))
    }

    // MARK: - Waiting for what is missing

    /// A job has met a full outbox, or there is no room for its download.
    private func waitForRoom(_ job: Job, _ failure: JobFailure) {
        let spool = configuration.places.spool
        let folder = job.record.needsDownload ? spool : job.record.order.outbox
        let place = job.record.needsDownload ? Resource.spool(spool) : .place(folder)
        FileQueue.async {
            let room = try? DiskRoom(in: folder)
            Coordination.async { [self] in
                guard goesOn(job) else { return }
                if shortages[place] == nil {
                    Log.failure("\(job.record.path): \(failure.message)", of: LogSubject(job.record, failure))
                }
                shortages.begin(noRoomIn: place, written: failure.written, room)
                wait(job, for: place)
            }
        }
    }

    /// False when the job was cancelled or given back while a disk was looked at.
    private func goesOn(_ job: Job) -> Bool {
        if job.phase == .ended { return false }
        if job.isToLeave {
            settle(job)
            return false
        }
        return true
    }

    /// A job has met something that is not there, or not permitted.
    private func waitForMending(_ job: Job, _ failure: JobFailure) {
        if let filter = failure.filter {
            let reason = "\(Resource.filter(filter)) is not loaded"
            shortages.begin(Shortage(reason: reason, need: .plugin), of: .filter(filter))
            return wait(job, for: .filter(filter))
        }
        let outbox = job.record.order.outbox
        shortages.lookForPermission(in: outbox) { [self] refusal in
            guard goesOn(job), !waitsForResource(job) else { return }
            // The outbox itself is well: it is a matter of one folder in it, and of the jobs that go there.
            guard let refusal else { return retryLater(job, failure) }
            let reason = "\(outbox) can't be written: \(refusal.reason)"
            shortages.begin(Shortage(reason: reason, need: .permission), of: .place(outbox))
            wait(job, for: .place(outbox))
        }
    }

    /// Whether a job failed because something that it needs is known not to be there, and waits for that.
    private func waitsForResource(_ job: Job) -> Bool {
        let order = job.record.order
        guard let missing = shortages.first(where: job.record.needs) ?? shortages.gone(of: [order.inbox, order.outbox])
        else { return false }
        wait(job, for: missing)
        return true
    }

    private func wait(_ job: Job, for resource: Resource) {
        wait(job, .place, shortages[resource]?.reason ?? "\(resource)")
    }

    func setAside(_ resource: Resource, because reason: String) {
        // No row that is about to be changed is taken.
        window.hold()
        ledger.setAside(resource, reason: reason, except: window.ids) { [self] count in
            Coordination.async { [self] in
                counts.move(count, from: .queued, to: .waiting)
                window.goOn()
            }
        }
        for job in window.all where job.record.state == .queued {
            guard job.record.needs(resource), !job.isToLeave else { continue }
            job.wish = .wait(reason)
            job.cancelOperations()
            settle(job)
        }
    }

    func bringBack(_ resource: Resource) { retries.queue(waitingFor: resource) }

    /// Something is in work: it is looked now and then whether its disks answer.
    func watchForHangs() {
        hangs.watch { [self] job, reason in hold(job.record.id, reason) }
    }

    // MARK: - Stopping

    /// Cancels one job. Only one that is not yet publishing can be.
    func cancel(_ job: Job) {
        guard job.wish != .cancel, [.working, .discarding].contains(job.phase) else { return }
        job.wish = .cancel
        if [.running, .waiting].contains(job.record.state) { move(job, to: .cancelling) }
        job.cancelOperations()
        settle(job)
    }

    /// The daemon stops: the job goes back to the queue.
    func giveBack(_ job: Job) {
        guard job.wish != .cancel, [.working, .discarding].contains(job.phase) else { return }
        job.wish = .giveBack
        job.cancelOperations()
        settle(job)
    }

    /// A job that has not begun is a row again; false when it has begun.
    func takeBack(_ job: Job) -> Bool {
        guard job.record.state == .queued, !job.isToLeave, job.withdraw() else { return false }
        job.wish = .giveBack
        settle(job)
        return true
    }

    /// A job that is to stop has stopped once none of its operations works any more.
    private func settle(_ job: Job) {
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
    private func wait(_ job: Job, _ hold: JobRecord.WaitReason, _ reason: String) {
        job.record.started = nil
        job.record.reason = reason
        job.record.hold = hold
        finish(job, .waiting)
    }

    func hold(_ id: Int, _ reason: String?) {
        guard let job = window[id] else { return }
        switch (job.record.state, reason) {
        case (.running, .some), (.waiting, .some): move(job, to: .waiting, reason: reason)
        case (.waiting, nil): move(job, to: .running)
        default: break
        }
    }

    /// Queues were paused, or go on.
    func showHeld() {
        for job in window.all { showHeld(job) }
    }

    /// What is rendered, and not yet being published, waits behind a pause of that queue; so does what is downloaded, and not yet rendered.
    private func showHeld(_ job: Job) {
        let isRendered = job.render.state == .finished
        guard isRendered || job.download?.state == .finished,
            (isRendered ? job.publish?.hasBegun : job.render.hasBegun) == false
        else { return }
        let report = isRendered ? queues.publish.report : queues.render.report
        hold(job.record.id, report.paused ? report.pauseText : nil)
    }

    private func move(_ job: Job, to state: JobState, reason: String? = nil) {
        counts.move(from: job.record.state, to: state)
        job.record.state = state
        job.record.reason = reason
        ledger.record(job.record)
    }

    /// The job leaves the window in its last state, `queued` when the daemon stops, or `waiting`.
    private func finish(_ job: Job, _ state: JobState, done: @escaping @Sendable () -> Void = {}) {
        job.phase = .ended
        window.leave(job)
        // One that goes back without having begun is a row as before.
        if state == .queued, job.record.state == .queued {
            progress.left(job.record)
            return left()
        }
        // Beyond a barrier it is still the same try.
        let goesOn = state == .waiting && job.record.hold == .barrier
        job.record.tries += goesOn ? max(0, job.tries - 1) : job.tries
        if state == .done {
            (job.record.error, job.record.advice, job.record.failure) = (nil, nil, nil)
            strikes.acquit(job.record.order)
        }
        counts.move(from: job.record.state, to: state)
        job.record.state = state
        job.record.finished = state.isFinal ? Timestamp.now() : nil
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
                window.finishEnding(record.id)
                if state.isFinal {
                    waiters.stopped(record.id)
                    disposals.dispose(record)
                    history.ended(1)
                }
                left()
            }
        }
        window.fill(arrived: nil)
    }
}

extension JobRecord {
    /// It has arrived at a barrier.
    fileprivate mutating func arrive() {
        segment += 1
        hold = .barrier
        reason = "barrier: waits for the others of batch \(batch ?? 0)"
    }

    /// The line of the log about a job that is done.
    func line(_ places: Places) -> String {
        let time = (finished ?? 0) - (started ?? 0)
        let results = outputs.map { $0.hasPrefix(places.data + "/") ? String($0.dropFirst(places.data.count + 1)) : $0 }
        // Foundation's formats cost more than all the rest of the line, and there is one a job.
        let hundredths = Int((max(0, time) * 100).rounded())
        let took = "\(hundredths / 100).\(hundredths / 10 % 10)\(hundredths % 10) s"
        let shown = results.isEmpty ? "nothing" : results.joined(separator: ", ")
        return "\(order.recipe): \(path) → \(shown) (\(took))"
    }
}
