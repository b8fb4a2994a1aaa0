import DaemonConfiguration
package import DaemonRuntime
import Dispatch
import Foundation
import JobLedger
package import JobModel
package import OperationGraph
package import PipelineModel
import ServiceProgram
import WorkerPools

/// The queues of operations, in the order in which a job passes them, with their limits and pauses. A limit that a user
/// has set since the start overrides the configured limit. The limit `auto` of the render queue follows the number of
/// processors. Pauses survive a restart.
@Coordination
package final class Queues {
    package nonisolated let download: GatedQueue
    package nonisolated let render: GatedQueue
    package nonisolated let publish: GatedQueue
    /// Announces events in order. A user can't pause or limit this queue.
    package nonisolated let announce: GatedQueue
    nonisolated private let ledger: Ledger
    /// Path of the file that stores limits for the next start.
    private let file: String
    /// Limits that users have set since the start. They survive a reload.
    private var live: [String: QueueLimit] = [:]
    /// Queues whose limit in `live` is saved for the next start.
    private var saved: Set<String> = []
    /// Writes limits to `file`, one after another.
    private let saving = DispatchQueue(label: "pipelined.saving")
    private var followsProcessors = false
    weak var events: (any DaemonEvents)?

    private static let interval = Duration.seconds(2)

    init(_ settings: Settings, _ ledger: Ledger, savedIn file: String) {
        (self.ledger, self.file) = (ledger, file)
        download = GatedQueue("download", limit: settings.download, automatic: { 8 })
        render = GatedQueue("render", limit: settings.render, automatic: ProcessorCount.usable)
        publish = GatedQueue("publish", limit: settings.publish, automatic: { 128 })
        announce = GatedQueue("announce", limit: .count(1), isSerial: true, automatic: { 1 })
    }

    package nonisolated var all: [GatedQueue] { pausable + [announce] }
    /// The queues that a user can pause and limit.
    nonisolated var pausable: [GatedQueue] { [download, render, publish] }

    nonisolated subscript(entry: FirstQueue) -> GatedQueue {
        switch entry {
        case .download: download
        case .render: render
        }
    }

    /// Whether a write should wait, so that it shares its sync with publications that will follow soon. True while some
    /// pictures are being rendered and others are being published, but only if less than half of the publish queue's
    /// slots are in use. Otherwise, waiting could leave rendered jobs without a free slot.
    nonisolated var awaitsOthers: @Sendable () -> Bool {
        { [render, publish] in
            let behind = publish.report
            return render.report.running > 0 && behind.running > 0 && behind.running * 2 < behind.effective
        }
    }

    /// Returns the reason why queued jobs of this queue are shown as waiting: the queue is paused, or the ledger can't
    /// be written. Nil otherwise, even if the queue's limit is 0.
    package nonisolated func waitReason(_ entry: FirstQueue) -> String? {
        let report = self[entry].report
        return report.paused ? report.pauseText : ledger.unwritableReason
    }

    // MARK: - Limits

    /// Applies the limits of a reloaded configuration, except to queues whose limit a user has set since the start.
    func adopt(_ settings: Settings) {
        let limits = [settings.download, settings.render, settings.publish]
        for (queue, limit) in zip(pausable, limits) { queue.set(live[queue.name] ?? limit) }
    }

    /// Returns the limit that a user has set for this queue since the start; nil if no user has set a limit. `isSaved`
    /// says whether the limit is saved for the next start.
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
    /// number, so the daemon polls it.
    package func lookAtProcessors() {
        guard render.followAutomatic() else { return }
        events?.limitsChanged()
        let limit = render.report.effective
        Log.notice("the processors that may be used have changed: now \(limit) at once in queue \(render.name)")
        ledger.append(LoggedEvent(kind: "queue", queue: render.name, text: "limit auto: \(limit)"))
    }

    /// Checks the number of processors now, and then every two seconds while `hasWork` returns true and the render
    /// queue is not paused.
    func followProcessors(while hasWork: @escaping @Coordination @Sendable () -> Bool) {
        guard !followsProcessors else { return }
        followsProcessors = true
        lookAtProcessors()
        Coordination.after(Self.interval) { [self] in
            followsProcessors = false
            if hasWork(), !render.report.paused { followProcessors(while: hasWork) }
        }
    }

    // MARK: - Pauses

    /// Pauses the queues that were paused before the restart.
    func begin() throws {
        for (name, reason) in try ledger.pausedQueues() {
            guard let queue = all.first(where: { $0.name == name }) else { continue }
            queue.pause(reason: reason)
            Log.notice(
                "queue \(name) is paused\(reason.map { " (\($0))" } ?? ""), as it was before; "
                    + "`pipectl resume \(name)` lets it go on")
        }
    }

    /// Pauses these queues immediately. Calls `done` when the ledger has recorded the pauses.
    func pause(_ some: [GatedQueue], reason: String?, done: @escaping @Coordination @Sendable () -> Void) {
        let changed = some.map { (queue: $0, reason: $0.pause(reason: reason)) }
        events?.queuesPaused()
        record(changed, paused: true, done: done)
    }

    func resume(_ some: [GatedQueue], done: @escaping @Coordination @Sendable () -> Void) {
        for queue in some { queue.resume() }
        events?.queuesResumed()
        record(some.map { ($0, nil) }, paused: false, done: done)
    }

    private func record(
        _ changed: [(queue: GatedQueue, reason: String?)], paused: Bool,
        done: @escaping @Coordination @Sendable () -> Void
    ) {
        for (queue, reason) in changed.dropLast() { ledger.recordPause(queue.name, reason: reason, paused: paused) {} }
        guard let last = changed.last else { return done() }
        ledger.recordPause(last.queue.name, reason: last.reason, paused: paused) { Coordination.async(done) }
    }
}
