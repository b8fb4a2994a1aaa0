import DaemonRuntime
import FleetSharing
import JobLedger
import OperationGraph

/// Pauses queues, which outlives a restart, and lets them go on; drains the daemon.
@Coordination
final class Pauses {
    /// How a drain ended.
    enum DrainEnd: Sendable {
        /// Everything that was in work is published.
        case drained
        /// The queues were resumed before.
        case resumed
        /// Rendered pictures can't be published, for this reason.
        case heldBack(Int, String)
    }

    private let ledger: Ledger
    private let queues: Queues
    private let states: JobStates
    private let window: Window
    private let progress: ProgressBoard
    private let fleet: FleetMember
    /// The callers that wait until nothing is in work.
    private var drains: [@Coordination @Sendable (DrainEnd) -> Void] = []

    init(
        _ ledger: Ledger, _ queues: Queues, _ states: JobStates, _ window: Window, _ progress: ProgressBoard,
        _ fleet: FleetMember
    ) {
        (self.ledger, self.queues, self.states) = (ledger, queues, states)
        (self.window, self.progress, self.fleet) = (window, progress, fleet)
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
        fleet.look()
        record(changed, paused: true, done: done)
    }

    func resume(_ some: [GatedQueue], done: @escaping @Coordination @Sendable () -> Void) {
        for queue in some { queue.resume() }
        fleet.look()
        if some.contains(where: { $0 !== queues.publish }) { endDrains(.resumed) }
        progress.resumed()
        states.showPauses()
        window.fill()
        record(some.map { ($0, nil) }, paused: false, done: done)
    }

    /// Pauses download and render. `done` is called when what was in work is published, and no picture of another node is
    /// here any more; or when that can't come true.
    func drain(done: @escaping @Coordination @Sendable (DrainEnd) -> Void) {
        pause([queues.download, queues.render], reason: "drained") { [self] in
            drains.append(done)
            check()
        }
    }

    /// Something may have come to rest.
    func check() {
        guard !drains.isEmpty, fleet.takenCount == 0, window.isRecorded else { return }
        let obstacle = queues.publish.report.obstacle
        let heldBack = obstacle == nil ? [] : window.all.filter(\.waitsForPublish)
        guard window.all.allSatisfy({ $0.rests || (obstacle != nil && $0.waitsForPublish) }) else { return }
        endDrains(heldBack.isEmpty ? .drained : .heldBack(heldBack.count, obstacle ?? ""))
    }

    private func endDrains(_ end: DrainEnd) {
        let ended = drains
        drains = []
        for done in ended { done(end) }
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
