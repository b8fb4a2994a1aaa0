import DaemonConfiguration
import DaemonRuntime
import JobLedger
import JobModel
import PipelineModel
import ServiceProgram

/// Queues jobs that wait for a retry: when the retry is due, or earlier on request.
extension JobQueue {
    /// Schedules `queueDue` for this time, unless it is already scheduled for an earlier time.
    func retry(at time: Double) { nextRetry.make(at: time) }

    /// Queues the jobs whose retry is due, behind all other jobs, and schedules the next retry. `setBack` is the number
    /// of seconds by which the clock was set back.
    func queueDue(setBack: Double = 0) {
        let most = configuration.settings.retry.most / .seconds(1)
        ledger.bringBackDue(at: positions(), setBack: setBack, most: most) { [self] count, next in
            Coordination.async { [self] in
                cameBack(count)
                // Waits for at least 0.1 seconds, so that retries that are due in close succession are queued together.
                if let next { retry(at: max(next, Timestamp.now() + 0.1)) }
            }
        }
    }

    /// Queues jobs early, which wait for a retry that is not due yet. Queues the jobs with these IDs, or all such jobs
    /// if `ids` is nil. If `batch` is given, queues only jobs of this batch. Calls `done` with the IDs of the queued
    /// jobs.
    func queueEarly(_ ids: [Int]?, of batch: Int? = nil, done: @escaping Done<[Int]>) {
        if ids?.isEmpty == true { return done([]) }
        ledger.bringBackEarly(ids, of: batch, upTo: numbers.lastID, at: positions()) { [self] brought in
            Coordination.async { [self] in
                cameBack(brought.count)
                done(brought)
            }
        }
    }

    /// Moves the jobs that wait for `resource` to the end of the queue.
    func queue(waitingFor resource: Resource) {
        ledger.bringBack(resource, except: ids, at: positions()) { [self] count in
            Coordination.async { [self] in cameBack(count) }
        }
    }

    /// Allocates positions at the end of the queue for the jobs that the ledger is about to queue again. Allocates one
    /// position for each job number, which is always enough. The count of waiting jobs in `counts` could be too low,
    /// because the ledger may contain waiting jobs that it has not reported yet.
    private func positions() -> Int { numbers.takePositions(numbers.lastID) }

    /// Queues jobs again after their originals were brought back.
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
