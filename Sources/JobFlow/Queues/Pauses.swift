import DaemonRuntime
import FleetSharing
import JobLedger
import OperationGraph

/// Pauses and resumes queues, and drains the daemon. Pauses survive a restart.
@Coordination
final class Pauses {
    /// How a drain ended.
    enum DrainEnd: Sendable {
        /// Everything that was in progress is published.
        case drained
        /// The queues were resumed before the drain was complete.
        case resumed
        /// This number of rendered pictures can't be published, for this reason.
        case heldBack(Int, String)
    }

    private let ledger: Ledger
    private let queues: Queues
    private let runner: JobRunner
    private let jobs: JobQueue
    private let fleet: FleetMember
    /// Callers that wait until nothing is in progress.
    private var drains: [@Coordination @Sendable (DrainEnd) -> Void] = []

    init(
        _ ledger: Ledger, _ queues: Queues, _ runner: JobRunner, _ jobs: JobQueue, _ fleet: FleetMember
    ) {
        (self.ledger, self.queues, self.runner) = (ledger, queues, runner)
        (self.jobs, self.fleet) = (jobs, fleet)
    }

    /// Pauses the queues that were paused before the restart.
    func begin() throws {
        for (name, reason) in try ledger.pausedQueues() {
            guard let queue = queues.all.first(where: { $0.name == name }) else { continue }
            queue.pause(reason: reason)
            Log.notice(
                "queue \(name) is paused\(reason.map { " (\($0))" } ?? ""), as it was before; "
                    + "`pipectl resume \(name)` lets it go on")
        }
    }

    /// Pauses these queues. Calls `done` when nothing new starts in them, and the pause is recorded.
    func pause(_ some: [GatedQueue], reason: String?, done: @escaping @Coordination @Sendable () -> Void) {
        let changed = some.map { (queue: $0, reason: $0.pause(reason: reason)) }
        runner.showPauses()
        fleet.look()
        record(changed, paused: true, done: done)
    }

    func resume(_ some: [GatedQueue], done: @escaping @Coordination @Sendable () -> Void) {
        for queue in some { queue.resume() }
        fleet.look()
        if some.contains(where: { $0 !== queues.publish }) { endDrains(.resumed) }
        jobs.progress.resumed()
        runner.showPauses()
        jobs.fill()
        record(some.map { ($0, nil) }, paused: false, done: done)
    }

    /// Pauses the download and render queues. Calls `done` when all work in progress is published and this node has no
    /// pictures of other nodes any more, or when that has become impossible.
    func drain(done: @escaping Done<DrainEnd>) {
        pause([queues.download, queues.render], reason: "drained") { [self] in
            drains.append(done)
            check()
        }
    }

    /// Ends the drains if no work is in progress, or if the remaining work can't be published.
    func check() {
        guard !drains.isEmpty, fleet.takenCount == 0, jobs.isRecorded else { return }
        let obstacle = queues.publish.report.obstacle
        let heldBack = obstacle == nil ? [] : jobs.all.filter(\.waitsForPublish)
        guard jobs.all.allSatisfy({ $0.rests || (obstacle != nil && $0.waitsForPublish) }) else { return }
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
