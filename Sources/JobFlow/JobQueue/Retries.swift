import DaemonConfiguration
package import DaemonRuntime
import JobLedger
import PipelineModel

/// Queues jobs that wait for a retry when it is due, or earlier on request.
@Coordination
package final class Retries {
    private let ledger: Ledger
    private let numbers: JobNumbers
    private let window: Window
    private let configuration: ConfigurationInForce
    /// For the earliest retry.
    private lazy var next = Appointment { [unowned self] in queueDue(setBack: $0) }

    init(
        _ ledger: Ledger, _ numbers: JobNumbers, _ window: Window, _ configuration: ConfigurationInForce
    ) {
        (self.ledger, self.numbers) = (ledger, numbers)
        (self.window, self.configuration) = (window, configuration)
    }

    /// Schedules the retries that are due at this time.
    func make(at time: Double) { next.make(at: time) }

    /// Queues due retries at the end of the queue, then schedules the next. `setBack` is the number of seconds by which
    /// the clock was set back.
    func queueDue(setBack: Double = 0) {
        let most = configuration.settings.retry.most / .seconds(1)
        ledger.bringBackDue(at: positions(), setBack: setBack, most: most) { [self] count, next in
            Coordination.async { [self] in
                window.cameBack(count)
                // Retries that are due in close succession are queued together.
                if let next { make(at: max(next, Timestamp.now() + 0.1)) }
            }
        }
    }

    /// Queues these jobs, or all, or all of a batch, before their time; calls `done` with the jobs that it queued.
    func queueEarly(_ ids: [Int]?, of batch: Int? = nil, done: @escaping @Coordination @Sendable ([Int]) -> Void) {
        if ids?.isEmpty == true { return done([]) }
        ledger.bringBackEarly(ids, of: batch, upTo: numbers.lastID, at: positions()) { [self] brought in
            Coordination.async { [self] in
                window.cameBack(brought.count)
                done(brought)
            }
        }
    }

    /// Queues the jobs that wait for `resource` at the end of the queue.
    func queue(waitingFor resource: Resource) {
        ledger.bringBack(resource, except: window.ids, at: positions()) { [window] count in
            Coordination.async { window.cameBack(count) }
        }
    }

    /// Positions at the end of the queue for all jobs that may come back. The counts are no upper bound: more jobs may
    /// wait in the ledger than it has reported.
    private func positions() -> Int { numbers.takePositions(numbers.lastID) }
}
