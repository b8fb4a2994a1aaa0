import DaemonConfiguration
package import DaemonRuntime
import JobLedger
import PipelineModel

/// Jobs that wait for another try are queued again when that is due, or earlier when somebody wants it.
@Coordination
package final class Retries {
    private let ledger: Ledger
    private let numbers: JobNumbers
    private let window: Window
    private let configuration: ConfigurationInForce
    /// For the job that is the first to be tried again.
    private lazy var next = Appointment { [unowned self] in queueDue(setBack: $0) }

    init(
        _ ledger: Ledger, _ numbers: JobNumbers, _ window: Window, _ configuration: ConfigurationInForce
    ) {
        (self.ledger, self.numbers) = (ledger, numbers)
        (self.window, self.configuration) = (window, configuration)
    }

    /// A job waits until this time.
    func make(at time: Double) { next.make(at: time) }

    /// Queues due retries at the end of the queue, then makes an appointment for the next. The clock may have been set
    /// back, by so many seconds.
    func queueDue(setBack: Double = 0) {
        let most = configuration.settings.retry.most / .seconds(1)
        ledger.bringBackDue(at: positions(), setBack: setBack, most: most) { [self] count, next in
            Coordination.async { [self] in
                window.cameBack(count)
                // Jobs that come close together are brought back together.
                if let next { make(at: max(next, Timestamp.now() + 0.1)) }
            }
        }
    }

    /// Queues these jobs, or all, or all of a batch, before their time. Hands over which they were.
    func queueEarly(_ ids: [Int]?, of batch: Int? = nil, done: @escaping @Coordination @Sendable ([Int]) -> Void) {
        if ids?.isEmpty == true { return done([]) }
        ledger.bringBackEarly(ids, of: batch, upTo: numbers.lastID, at: positions()) { [self] brought in
            Coordination.async { [self] in
                window.cameBack(brought.count)
                done(brought)
            }
        }
    }

    /// Queues the jobs that wait for this, at the end of the queue.
    func queue(waitingFor resource: Resource) {
        ledger.bringBack(resource, except: window.ids, at: positions()) { [window] count in
            Coordination.async { window.cameBack(count) }
        }
    }

    /// Places at the end of the queue for all that may come back. The counts are no bound: the ledger may have let more
    /// jobs wait than it has told of.
    private func positions() -> Int { numbers.takePositions(numbers.lastID) }
}
