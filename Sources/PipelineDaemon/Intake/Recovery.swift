import DaemonRuntime
import InboxWatching
import JobLedger
import PipelineModel
import Synchronization
import SystemCalls
import WorkerProtocol

/// Puts right what a crash, or a stop, has left in the middle, before anything new begins.
struct Recovery: Sendable {
    let ledger: Ledger
    let configuration: ConfigurationInForce
    let publisher: Publisher
    let staging: Staging
    let disposals: Disposals

    private var places: Places { configuration.places }

    func recover() throws {
        var announcing: [Int] = []
        var finished: [PublishIntent] = []
        for var job in try ledger.interrupted() {
            if let intent = job.intent {
                if recover(&job, intent) {
                    announcing.append(job.id)
                    finished.append(intent)
                }
            } else if job.state == .cancelling {
                job.end(.cancelled, at: Timestamp.now())
            } else {
                again(&job)
            }
            ledger.record(job)
        }
        ledger.followAll {}
        for id in announcing { ledger.append(LoggedEvent(kind: "published", job: id, state: .done)) }
        try sweepStaging()
        try sweepSpool()
        guard ledger.flush(seconds: 30) else { throw JobFailure("the ledger can't be written; see above") }
        // The results of before may lie in an outbox that no recipe names any more.
        for intent in finished where intent.leavesFiles { publisher.discard(intent) }
    }

    /// A job that was in work at a crash is tried again with nothing else beside it, and not for ever: if it could take
    /// the daemon down, it would at every start.
    private func again(_ job: inout JobRecord) {
        if job.state == .running {
            job.tries += 1
            job.crashes += 1
        }
        job.story?.interrupt()
        (job.reason, job.waitReason) = (nil, nil)
        queueAgain(&job)
        guard job.crashes >= configuration.settings.crashTries else { return }
        fail(
            &job,
            JobFailure(
                "the daemon has crashed \(job.crashes) times while this picture was in work",
                advice: "if power cuts are the reason, `pipectl retry \(job.id)`; CrashTries in [Daemon] is the limit",
                class: .crash))
    }

    private func queueAgain(_ job: inout JobRecord) { (job.state, job.started) = (.queued, nil) }

    private func fail(_ job: inout JobRecord, _ failure: JobFailure) {
        (job.error, job.advice, job.failure) = (failure.message, failure.advice, failure.class)
        job.end(.failed, at: Timestamp.now())
        Log.failure("\(job.order.recipe): \(job.path) failed: \(failure.message) (job \(job.id))", of: LogSubject(job))
    }

    /// The intent was recorded: its job ends done, if what it speaks of is there.
    private func recover(_ job: inout JobRecord, _ intent: PublishIntent) -> Bool {
        do {
            guard let outcome = try publisher.recover(intent) else {
                // Neither made nor published is left of it: once more from the original.
                job.intent = nil
                queueAgain(&job)
                return false
            }
            (job.state, job.finished) = (.done, Timestamp.now())
            job.conclude(outcome)
            return true
        } catch {
            let failure = JobFailure(error, inOutboxDuring: "publishing after a crash")
            // Unless it fails, the job runs again like any other, and finishes the intent.
            if failure.class.remedy == .none { fail(&job, failure) } else { queueAgain(&job) }
            return false
        }
    }

    private func sweepStaging() throws {
        var outboxes = Set(configuration.recipes.map(configuration.outbox))
        outboxes.insert(configuration.adHocOutbox)
        // A recipe may be another since.
        outboxes.formUnion(try ledger.unfinishedOutboxes())
        let kept = try ledger.stagedPaths()
        for outbox in outboxes.sorted() { staging.sweep(outbox, except: kept) }
    }

    /// Removes copies whose job was never recorded: the caller was not told that they are safe. A file that was brought
    /// back is the only copy, and stays.
    private func sweepSpool() throws {
        for name in (try? FileSystem.names(in: places.spool).compactMap(\.self)) ?? [] {
            let folder = FileSystem.join(places.spool, name)
            for file in (try? FileSystem.names(in: folder).compactMap(\.self)) ?? [] {
                let path = FileSystem.join(folder, file)
                guard try !ledger.knows(source: path) else { continue }
                if let job = Spool.job(broughtBackTo: name) {
                    if try !putRight(job, source: path) {
                        Log.failure("\(path) stays there: it was brought back for job \(job), which does not want it")
                    }
                } else if let there = try FileSystem.status(path), try !isOriginal(path, as: file, there.identity) {
                    try? FileSystem.remove(path)
                }
            }
            FileSystem.removeEmptyFolders(from: folder, upTo: places.spool)
        }
    }

    /// Whether a file that no row names is the original that a job has lost. If so, the row is put right.
    func isOriginal(_ source: String, as path: String, _ file: FileStatus.Identity) throws -> Bool {
        let jobs = try ledger.candidates(forPath: path, file)
        // An original that had left, or was removed, is its owner's again: it may have been put into the inbox once
        // more.
        return try jobs.filter { isAtWork($0) && !Disposal.isRemoved($0) }
            .contains { try putRight($0.id, source: source) }
    }

    /// Whether the row has the original where it lies until its job is over.
    private func isAtWork(_ job: JobRecord) -> Bool { places.isWorkplace(of: job, job.source, job.order) }

    /// False when the job has its original, or somebody has returned it.
    private func putRight(_ id: Int, source: String) throws -> Bool {
        guard let job = try ledger.job(id), job.returns == nil else { return false }
        // An original that is where the row says was away, with its disk, when it was recorded as gone.
        guard try job.source == source || FileSystem.status(job.source) == nil else { return false }
        Log.notice(
            job.source == source
                ? "job \(id): its original, which was gone, lies at \(source) again"
                : "job \(id): its original lay at \(source), and not at \(job.source) as is recorded; that is put right",
            of: LogSubject(job))
        // Moves it where it belongs, unless work is done there.
        if job.isOver, !isAtWork(job), (try? FileSystem.renameWithoutReplacing(source, job.source)) != nil {
            return true
        }
        ledger.putRight(id, source: source)
        if job.state.isFinal { Coordination.async { [disposals] in disposals.disposeBacklog() } }
        return true
    }
}
