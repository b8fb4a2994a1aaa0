import DaemonRuntime
import JobLedger
import PipelineModel
import WorkerProtocol

/// The class of a failure decides what becomes of its job.
extension Supervisor {
    func fail(_ job: Job, _ failure: JobFailure) {
        guard !job.ended else { return }
        if job.cancelRequested || job.returning { return settleCancelling(job) }
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

    // MARK: - What may pass

    /// Another try after a while, longer each time, and not for ever.
    func retryLater(_ job: Job, _ failure: JobFailure) {
        let retry = settings.retry
        guard job.record.setbacks < retry.tries else { return end(job, failure) }
        job.record.setbacks += 1
        let pause = retry.pause(
            before: job.record.setbacks, asked: failure.retryAfter, chance: .random(in: 0...1))
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

    /// Queues due retries at the end of the queue, then makes an appointment for the next. The clock may have been set
    /// back, by so many seconds.
    func retryDue(setBack: Double = 0) {
        let position = nextPosition
        nextPosition += counts[.waiting] ?? 0
        ledger.bringBackDue(at: position, setBack: setBack, most: settings.retry.most / .seconds(1)) {
            [self] count, next in
            Coordination.async { [self] in
                wentOn(count)
                // Those that come close together are brought back together.
                if let next { retries.make(at: max(next, Timestamp.now() + 0.1)) }
            }
        }
    }

    /// What waits for its next try does not wait any longer: these, or all. Hands over which they were.
    func retryEarly(_ ids: [Int]?, done: @escaping @Coordination @Sendable ([Int]) -> Void) {
        if ids?.isEmpty == true { return done([]) }
        let position = nextPosition
        nextPosition += counts[.waiting] ?? 0
        ledger.bringBackEarly(ids, upTo: nextID - 1, at: position) { [self] brought in
            Coordination.async { [self] in
                wentOn(brought.count)
                done(brought)
            }
        }
    }

    /// So many rows that waited are queued again.
    func wentOn(_ count: Int) {
        counts[.waiting, default: 0] -= count
        counts[.queued, default: 0] += count
        fill()
    }
}
