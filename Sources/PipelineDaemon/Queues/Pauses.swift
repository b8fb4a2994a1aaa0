import DaemonRuntime
import JobLedger
import OperationGraph

/// Pauses queues, which outlives a restart, and lets them go on.
@Coordination
final class Pauses {
    private let ledger: Ledger
    private let queues: Queues
    private let states: JobStates
    private let window: Window
    private let progress: ProgressBoard

    init(
        _ ledger: Ledger, _ queues: Queues, _ states: JobStates, _ window: Window, _ progress: ProgressBoard
    ) {
        (self.ledger, self.queues, self.states) = (ledger, queues, states)
        (self.window, self.progress) = (window, progress)
    }

    /// Pauses the queues that were paused before the start.
    func begin() throws {
        for (name, reason) in try ledger.pausedQueues() {
            guard let queue = queues.all.first(where: { $0.name == name }) else { continue }
            queue.pause(reason: reason)
            Log.notice(
                "queue \(name) is paused\(reason.map { " (\($0))" } ?? ""), as it was before; "
                    + "`pipectl resume \(name)` lets it go on")
        }
    }

    /// When `done` is called nothing new starts, and that is recorded.
    func pause(_ some: [GatedQueue], reason: String?, done: @escaping @Coordination @Sendable () -> Void) {
        let changed = some.map { (queue: $0, reason: $0.pause(reason: reason)) }
        states.showPauses()
        record(changed, paused: true, done: done)
    }

    func resume(_ some: [GatedQueue], done: @escaping @Coordination @Sendable () -> Void) {
        for queue in some { queue.resume() }
        progress.resumed()
        states.showPauses()
        window.fill()
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
