import DaemonConfiguration
import DaemonRuntime
import JobLedger
import JobModel
import PictureFiles
import PipelineModel
import ServiceProgram
import SystemCalls
import WorkerPools
import WorkerProtocol

/// Decides what happens to a failed job by the class of its failure: the job ends, is retried later, or waits for a
/// missing resource.
extension JobRunner: ShortagesDelegate {
    // MARK: - Failing

    func fail(_ job: Job, _ failure: JobFailure) {
        guard canFail(job) else { return }
        job.record.error = failure.message
        job.record.advice = failure.advice
        job.record.failure = failure.class
        job.record.story?.stage = failure.stage
        if failure.class.retryPolicy == .room { return waitForRoom(job, failure) }
        if waitsForResource(job) { return }
        switch failure.class.retryPolicy {
        case .later: retryLater(job, failure)
        case .mended: waitForMending(job, failure)
        case .none, .room, .alone: end(job, failure)
        }
    }

    private func end(_ job: Job, _ failure: JobFailure) {
        let words = job.record.setbacks == 0 ? "" : "; it was tried \(job.record.setbacks + 1) times"
        job.record.error = failure.message + words
        finish(job, .failed)
        if let culprit = failure.culprit { countCrash(of: culprit, with: job) }
        Log.failure(
            "\(job.record.order.recipe): \(job.record.path) failed: \(failure.message)\(words)"
                + (job.record.redoEnd == nil ? "" : "; its earlier results stay")
                + (failure.advice.map { "; \($0)" } ?? "") + " (job \(job.record.id))",
            of: LogSubject(job.record, failure))
    }

    /// Retries the job later, with increasing delays. If the job has reached the limit of attempts, fails the job.
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
        jobs.retry(at: due)
    }

    /// Counts a job in which this filter crashed or hung. If that happens with `CrashStrikes=` different pictures in a
    /// row, recipes with the filter wait until another version of the filter is loaded.
    private func countCrash(of filter: String, with job: Job) {
        let count = crashes.add(filter, with: job.record.path)
        guard count >= configuration.settings.crashStrikes, shortages[.filter(filter)] == nil else { return }
        let pictures = count == 1 ? "picture" : "pictures in a row"
        let reason = "\(Resource.filter(filter)) has crashed or hung with \(count) \(pictures)"
        shortages.begin(Shortage(reason: reason, need: .replacement), of: .filter(filter))
    }

    // MARK: - Waiting for missing resources

    /// Makes a job wait because its outbox is full, or because the spool has no room for its download.
    private func waitForRoom(_ job: Job, _ failure: JobFailure) {
        let spool = configuration.places.spool
        let isOfDownload = failure.stage == FetchedFile.stage
        let folder = isOfDownload ? spool : job.record.order.outbox
        let place = isOfDownload ? Resource.spool(spool) : .place(folder)
        FileLanes.work(on: folder).async {
            let room = try? DiskRoom(in: folder)
            Coordination.async { [self] in
                guard canFail(job) else { return }
                if shortages[place] == nil {
                    Log.failure("\(job.record.path): \(failure.message)", of: LogSubject(job.record, failure))
                }
                shortages.begin(noRoomIn: place, written: failure.written, room)
                wait(job, for: place)
            }
        }
    }

    /// Returns whether a failure may change what happens to the job. Returns false if the job has ended or is being
    /// stopped. If a job that is being stopped has no more operations in progress, also completes the stop.
    private func canFail(_ job: Job) -> Bool {
        if job.life.canFail { return true }
        stopIfStill(job)
        return false
    }

    /// Makes a job wait because its filter is not loaded, or because its outbox is not writable.
    private func waitForMending(_ job: Job, _ failure: JobFailure) {
        if let filter = failure.filter {
            let catalog = configuration.now.catalog
            let reason = "\(Resource.filter(filter)) is not loaded" + (catalog.leftOut[filter].map { "; \($0)" } ?? "")
            let isKnown = catalog[filter] != nil
            shortages.begin(Shortage(reason: reason, need: .plugin(isKnown: isKnown)), of: .filter(filter))
            return wait(job, for: .filter(filter))
        }
        let outbox = job.record.order.outbox
        shortages.lookForPermission(in: outbox) { [self] refusal in
            guard canFail(job), !waitsForResource(job) else { return }
            // If the outbox itself is writable, a folder in it must be at fault. In that case, only the jobs that
            // publish into that folder retry.
            guard let refusal else { return retryLater(job, failure) }
            let reason = "\(outbox) can't be written: \(refusal.reason)"
            shortages.begin(Shortage(reason: reason, need: .permission), of: .place(outbox))
            wait(job, for: .place(outbox))
        }
    }

    /// If a resource that the failed job needs is known to be missing, makes the job wait for the resource, and returns
    /// true.
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

    /// Checks whether the job of this row needs a resource that is known to be missing. If so, puts all jobs that need
    /// the resource into the state `waiting`, and returns true. Considers only the recipe's hours, outboxes that have
    /// not been swept, and the filters and encoders without which the job would fail.
    func isSetAside(_ row: JobRecord) -> Bool {
        if let reason = shortages.hours.reason(against: row) {
            setAside(.hours(row.order.recipe), because: reason)
            return true
        }
        guard
            let missing = shortages.first(where: {
                ($0.isOfWorkers || shortages.isUnswept($0)) && row.order.needs($0)
            }),
            let shortage = shortages[missing]
        else { return false }
        setAside(missing, because: shortage.reason)
        return true
    }

    func setAside(_ resource: Resource, because reason: String) {
        // Jobs that are about to wait must not enter the window.
        jobs.suspendFilling()
        ledger.setAside(resource, reason: reason, except: jobs.ids) { [self] count in
            Coordination.async { [self] in
                jobs.move(count, from: .queued, to: .waiting)
                jobs.resumeFilling()
            }
        }
        for job in jobs.all where job.record.needs(resource) { advance(job, .setAside(reason)) }
    }

    func bringBack(_ resource: Resource) { jobs.queue(waitingFor: resource) }
}
