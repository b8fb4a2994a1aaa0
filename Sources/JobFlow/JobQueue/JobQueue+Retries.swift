import DaemonConfiguration
import DaemonRuntime
import JobLedger
import PipelineModel

/// Queues jobs that wait for a retry when it is due, or earlier on request.
extension JobQueue {
    /// Schedules the retries that are due at this time.
    func retry(at time: Double) { nextRetry.make(at: time) }

    /// Queues due retries at the end of the queue, then schedules the next. `setBack` is the number of seconds by which
    /// the clock was set back.
    func queueDue(setBack: Double = 0) {
        let most = configuration.settings.retry.most / .seconds(1)
        ledger.bringBackDue(at: positions(), setBack: setBack, most: most) { [self] count, next in
            Coordination.async { [self] in
                cameBack(count)
                // Retries that are due in close succession are queued together.
                if let next { retry(at: max(next, Timestamp.now() + 0.1)) }
            }
        }
    }

    /// Queues these jobs, or all, or all of a batch, before their time; calls `done` with the jobs that it queued.
    func queueEarly(_ ids: [Int]?, of batch: Int? = nil, done: @escaping @Coordination @Sendable ([Int]) -> Void) {
        if ids?.isEmpty == true { return done([]) }
        ledger.bringBackEarly(ids, of: batch, upTo: numbers.lastID, at: positions()) { [self] brought in
            Coordination.async { [self] in
                cameBack(brought.count)
                done(brought)
            }
        }
    }

    /// Queues the jobs that wait for `resource` at the end of the queue.
    func queue(waitingFor resource: Resource) {
        ledger.bringBack(resource, except: ids, at: positions()) { [self] count in
            Coordination.async { [self] in cameBack(count) }
        }
    }

    /// Positions at the end of the queue for all jobs that may come back. The counts are no upper bound: more jobs may
    /// wait in the ledger than it has reported.
    private func positions() -> Int { numbers.takePositions(numbers.lastID) }

    /// Queues jobs whose originals were brought back.
    func queueAgain(_ records: [JobRecord]) {
        guard !records.isEmpty else { return }
        var records = records
        for index in records.indices {
            records[index].position = numbers.takePositions()
            move(from: records[index].state, to: .queued)
        }
        ledger.requeue(records) { [self] in Coordination.async { [self] in fill() } }
    }
}
