import Dispatch
import PipelineModel
import Synchronization
import SystemCalls
import WorkerProtocol

/// What a crash, or a stop, has left in the middle is put right before anything new begins.
extension Supervisor {
    func recover() throws {
        var announcing: [Int] = []
        let highest = try ledger.highest()
        (nextID, nextPosition, nextBatch) = (highest.id + 1, highest.position + 1, highest.batch + 1)
        for var job in try ledger.interrupted() {
            if let intent = job.intent {
                if recover(&job, intent) { announcing.append(job.id) }
            } else if job.state == .cancelling {
                job.state = .cancelled
                job.finished = Timestamp.now()
            } else {
                again(&job)
            }
            ledger.record(job)
        }
        ledger.followAll {}
        for id in announcing { ledger.append(LoggedEvent(kind: "picture", job: id, state: .done)) }
        try sweepStaging()
        try sweepSpool()
        guard ledger.flush(seconds: 30) else { throw JobFailure("the ledger can't be written; see above") }
        counts = try ledger.counts()
        if let left = counts[.queued], left > 0 { Log.notice("in the queue from before: \(left)") }
    }

    /// What was in work at a crash is tried again with nothing else beside it, and not for ever: if it could take the daemon down, it
    /// would at every start.
    private func again(_ job: inout JobRecord) {
        if job.state == .running {
            job.tries += 1
            job.crashes += 1
        }
        job.story?.interrupt()
        job.reason = nil
        job.hold = nil
        job.started = nil
        job.state = .queued
        guard job.crashes >= settings.crashTries else { return }
        job.state = .failed
        job.finished = Timestamp.now()
        job.error = "the daemon has crashed \(job.crashes) times while this picture was in work"
        job.failure = .crash
        job.advice = "if power cuts are the reason, `pipectl retry \(job.id)`; CrashTries in [Daemon] is the limit"
        Log.failure("\(job.order.recipe): \(job.path) failed: \(job.error ?? "") (job \(job.id))", of: LogSubject(job))
    }

    /// The intent was recorded: its job ends done, if what it speaks of is there.
    private func recover(_ job: inout JobRecord, _ intent: PublishIntent) -> Bool {
        defer { if job.state.isFinal { job.finished = Timestamp.now() } }
        do {
            guard let published = try publisher.recover(intent) else {
                // Neither made nor published is left of it: once more from the original.
                job.intent = nil
                job.state = .queued
                job.started = nil
                return false
            }
            job.state = .done
            job.intent = nil
            job.outputs = published.map(\.path)
            return true
        } catch {
            let failure = JobFailure(error, inOutboxDuring: "publishing after a crash")
            guard failure.class.remedy == .none else {
                // It meets the same as any other that runs, which finishes it.
                job.state = .queued
                job.started = nil
                return false
            }
            job.state = .failed
            (job.error, job.advice, job.failure) = (failure.message, failure.advice, failure.class)
            Log.failure(
                "\(job.order.recipe): \(job.path) failed: \(failure.message) (job \(job.id))", of: LogSubject(job))
            return false
        }
    }

    private func sweepStaging() throws {
        var outboxes = Set(current.configuration.recipes.map { current.outbox(of: $0, places) })
        outboxes.insert(current.adHocOutbox(places))
        // A recipe may be another since.
        outboxes.formUnion(try ledger.unfinishedOutboxes())
        let kept = try ledger.stagedPaths()
        for outbox in outboxes.sorted() { staging.sweep(outbox, except: kept) }
    }

    /// Copies whose job was never recorded: the caller was not told that they are safe. One that was being brought back goes where it
    /// came from.
    private func sweepSpool() throws {
        for name in (try? FileSystem.names(in: places.spool).compactMap(\.self)) ?? [] {
            let folder = FileSystem.join(places.spool, name)
            for file in (try? FileSystem.names(in: folder).compactMap(\.self)) ?? [] {
                let path = FileSystem.join(folder, file)
                guard try !knows(source: path) else { continue }
                if let job = try Spool.job(broughtBackTo: name).flatMap(ledger.job) {
                    try? FileSystem.renameWithoutReplacing(path, job.source)
                } else {
                    try? FileSystem.remove(path)
                }
            }
            FileSystem.removeEmptyFolders(from: folder, upTo: places.spool)
        }
    }
}
