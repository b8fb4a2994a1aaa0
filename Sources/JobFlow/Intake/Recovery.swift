import DaemonConfiguration
import DaemonRuntime
import JobLedger
import JobModel
import PictureFiles
import PipelineModel
import ServiceProgram
import Synchronization
import SystemCalls
import WorkerPools

/// Repairs work that a crash or a stop has left unfinished, before new work begins.
package struct Recovery: Sendable {
    let ledger: Ledger
    let configuration: ConfigurationInForce
    let publisher: Publisher
    let staging: Staging
    let originals: OriginalMover

    private var places: Places { configuration.places }

    /// Repairs the ledger and the spool. Touches no other disk, because a disk that hangs would delay the start.
    func recover() throws {
        for var job in try ledger.interrupted() {
            if job.intent != nil {
                // Queues the job again. Its publish operation waits for its turn on the outbox, and then completes the
                // publish intent.
                queueAgain(&job)
            } else if job.state == .cancelling {
                job.end(.cancelled, at: Timestamp.now())
            } else {
                again(&job)
            }
            ledger.record(job)
        }
        ledger.followAll {}
        try sweepSpool()
        guard ledger.flush(seconds: 30) else { throw JobFailure("the ledger can't be written; see above") }
    }

    /// Queues an interrupted job again. If the job was running when the daemon crashed, its picture may have caused the
    /// crash. Such a job runs alone, and fails after `CrashTries=` crashes, so that it can't crash the daemon at every
    /// start.
    private func again(_ job: inout JobRecord) {
        if job.state == .running {
            job.tries += 1
            job.crashes += 1
        }
        queueAgain(&job)
        guard job.crashes >= configuration.settings.crashTries else { return }
        fail(
            &job,
            JobFailure(
                "the daemon has crashed \(job.crashes) times while it worked on this picture",
                advice: "if power cuts are the reason, `pipectl retry \(job.id)`; CrashTries in [Daemon] is the limit",
                class: .crash))
    }

    private func queueAgain(_ job: inout JobRecord) {
        job.story?.interrupt()
        (job.state, job.started, job.reason, job.waitReason) = (.queued, nil, nil, nil)
    }

    private func fail(_ job: inout JobRecord, _ failure: JobFailure) {
        (job.error, job.advice, job.failure) = (failure.message, failure.advice, failure.class)
        job.end(.failed, at: Timestamp.now())
        Log.failure("\(job.order.recipe): \(job.path) failed: \(failure.message) (job \(job.id))", of: LogSubject(job))
    }

    /// Removes the staging files whose paths the ledger does not contain. Sweeps each outbox on a queue of its own.
    func sweepStaging() throws -> StagingSweep {
        var outboxes = Set(configuration.outboxes)
        outboxes.insert(configuration.adHocOutbox)
        // Recipes may have changed since the jobs began, so former outboxes are included.
        outboxes.formUnion(try ledger.unfinishedOutboxes())
        let kept = try ledger.stagedPaths()
        return StagingSweep(outboxes, publisher) { [staging] in staging.sweep($0, except: kept) }
    }

    /// Moves spool files that belong to no job to `recovered/`, because they may be the only copies if the ledger was
    /// lost. Deletes only unfinished copies.
    private func sweepSpool() throws {
        var recovered = 0
        for name in (try? FileSystem.names(in: places.spool)) ?? [] {
            let folder = FileSystem.join(places.spool, name)
            for file in (try? FileSystem.names(in: folder)) ?? [] {
                let path = FileSystem.join(folder, file)
                if Spool.isUnfinished(name) {
                    try FileSystem.remove(path)
                    continue
                }
                guard try !ledger.knows(source: path) else { continue }
                if let job = Spool.job(broughtBackTo: name) {
                    if try !putRight(job, source: path) {
                        Log.failure("\(path) stays there: it was brought back for job \(job), which does not need it")
                    }
                } else if let there = try FileSystem.status(path), try !isOriginal(path, as: file, there.identity) {
                    _ = try Moving.move(FilePlace(path), into: "\(places.recovered)/added", as: file)
                    recovered += 1
                }
            }
            FileSystem.removeEmptyFolders(from: folder, upTo: places.spool)
        }
        guard recovered > 0 else { return }
        try FileSystem.sync("\(places.recovered)/added")
        Log.failure(
            "\(recovered) added or downloaded \(recovered == 1 ? "file" : "files") that no job refers to: now in "
                + "\(places.recovered)/added; drop them into an inbox, or remove them")
    }

    /// The ledger does not contain the path `source`. Returns whether the file at this path is the missing original of
    /// a job. If so, corrects the job's row, or moves the file to the path in the row.
    func isOriginal(_ source: String, as path: String, _ file: FileStatus.Identity) throws -> Bool {
        let jobs = try ledger.candidates(forPath: path, file)
        // Considers only jobs whose original should be in a work folder. If a job's original was moved to its final
        // place or removed, the user may have dropped the same file into the inbox once more, as a new picture.
        return try jobs.filter { isAtWork($0) && !$0.removesOriginal }
            .contains { try putRight($0.id, source: source) }
    }

    /// Whether the recorded path of the original is in a work folder. The original leaves that folder only when the job
    /// is over.
    private func isAtWork(_ job: JobRecord) -> Bool { places.isWorkplace(of: job, job.source, job.order) }

    /// Records `source` as the original of the job. Returns false if the job is unknown, has its original elsewhere, or
    /// is being brought back.
    private func putRight(_ id: Int, source: String) throws -> Bool {
        guard let job = try ledger.job(id), job.returns == nil else { return false }
        // The file may be at the recorded path. In that case, its disk was not mounted when the ledger recorded the
        // original as gone.
        guard try job.source == source || FileSystem.status(job.source) == nil else { return false }
        Log.notice(
            job.source == source
                ? "job \(id): its original, which was missing, is at \(source) again"
                : "job \(id): its original was at \(source), not at \(job.source) as recorded; the record is corrected",
            of: LogSubject(job))
        // Moves the file back to its recorded place if the job is over.
        if job.isOver, !isAtWork(job), (try? FileSystem.renameWithoutReplacing(source, job.source)) != nil {
            return true
        }
        ledger.putRight(id, source: source)
        if job.state.isFinal { Coordination.async { [originals] in originals.disposeBacklog() } }
        return true
    }
}
