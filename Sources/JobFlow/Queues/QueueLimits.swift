import DaemonConfiguration
package import DaemonRuntime
import Dispatch
import Foundation
import JobLedger
import JobModel
import OperationGraph
package import PipelineModel

/// The limits of the queues: configured limits, limits that were set since the start, and the current value of `auto`.
@Coordination
package final class QueueLimits {
    private let queues: Queues
    private let ledger: Ledger
    private let file: String
    /// Limits that `pipectl` has set since the start; they survive a reload.
    private var live: [String: QueueLimit] = [:]
    /// Queues whose live limit was saved for the next start.
    private var saved: Set<String> = []
    /// Writes saved limits one after another.
    private let saving = DispatchQueue(label: "pipelined.saving")
    private var followsProcessors = false
    weak var events: (any DaemonEvents)?

    private static let interval = Duration.seconds(2)

    init(_ queues: Queues, _ ledger: Ledger, savedIn file: String) {
        (self.queues, self.ledger, self.file) = (queues, ledger, file)
    }

    /// Adopts the settings of a reload.
    func adopt(_ settings: Settings) {
        let limits = [settings.download, settings.render, settings.publish]
        for (queue, limit) in zip(queues.pausable, limits) { queue.set(live[queue.name] ?? limit) }
    }

    /// The limit that was set since the start, and whether it is saved for the next start.
    package func live(of key: String) -> (limit: QueueLimit, isSaved: Bool)? {
        live[key].map { ($0, saved.contains(key)) }
    }

    func set(_ limit: QueueLimit, of queue: GatedQueue) {
        queue.set(limit)
        live[queue.name] = limit
        saved.remove(queue.name)
        events?.limitsChanged()
        ledger.append(LoggedEvent(kind: "queue", queue: queue.name, text: "limit \(limit)"))
    }

    /// Saves a limit for the next start.
    func save(_ limit: QueueLimit, of queue: GatedQueue, done: @escaping @Coordination @Sendable ((any Error)?) -> Void)
    {
        let name = queue.name
        saving.async { [self, file] in
            let result = Result { try SavedSettings.save(limit, key: name.capitalized, to: file) }
            Coordination.async { [self] in
                guard case .failure(let error) = result else {
                    if live[name] == limit { saved.insert(name) }
                    return done(nil)
                }
                done(error)
            }
        }
    }

    // MARK: - Processors

    /// Adapts the limit `auto` to the number of processors that the service may use. No event reports a change of that
    /// number, so it is polled.
    package func lookAtProcessors() {
        let render = queues.render
        guard render.followAutomatic() else { return }
        events?.limitsChanged()
        let limit = render.report.effective
        Log.notice("the processors that may be used have changed: now \(limit) at once in queue \(render.name)")
        ledger.append(LoggedEvent(kind: "queue", queue: render.name, text: "limit auto: \(limit)"))
    }

    /// Checks the processors now, and then at intervals while there is work.
    func followProcessors(while hasWork: @escaping @Coordination @Sendable () -> Bool) {
        guard !followsProcessors else { return }
        followsProcessors = true
        lookAtProcessors()
        Coordination.after(Self.interval) { [self] in
            followsProcessors = false
            if hasWork(), !queues.render.report.paused { followProcessors(while: hasWork) }
        }
    }
}
