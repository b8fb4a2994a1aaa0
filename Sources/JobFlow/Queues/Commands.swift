package import DaemonInterface
package import DaemonRuntime
import FleetSharing
import JobLedger
import JobModel
import OperationGraph
import PipelineModel
import ServiceProgram
package import WorkerProtocol

/// Executes commands that concern the whole daemon, from its own clients or from another node of the fleet.
@Coordination
package final class Commands {
    /// How a drain ended.
    private enum DrainEnd {
        /// All work in progress is published.
        case drained
        /// The queues were resumed before the drain was complete.
        case resumed
        /// Rendered pictures can't be published. The values are their number and the reason.
        case heldBack(Int, String)
    }

    private let ledger: Ledger
    private let queues: Queues
    private let jobs: JobQueue
    private let changes: JobChanges
    private let inboxes: Inboxes
    private let fleet: FleetMember
    /// Callbacks of the drains in progress.
    private var drains: [(DrainEnd) -> Void] = []
    weak var delegate: (any OwnersDelegate)?

    init(
        _ ledger: Ledger, _ queues: Queues, _ jobs: JobQueue, _ changes: JobChanges, _ inboxes: Inboxes,
        _ fleet: FleetMember
    ) {
        (self.ledger, self.queues, self.jobs) = (ledger, queues, jobs)
        (self.changes, self.inboxes, self.fleet) = (changes, inboxes, fleet)
    }

    /// - Parameter peer: the sender, for the log
    package func execute(_ command: NodeCommand, by peer: String, done: @escaping CommandRefusal.Done) {
        do throws(CommandRefusal) {
            switch command {
            case .pause(let name, let reason): try pause(name, reason, peer, done)
            case .resume(let name): try resume(name, peer, done)
            case .concurrency(let name, let limit, let save): try self.limit(name, to: limit, save: save, peer, done)
            case .cancelAll: cancelAll(peer, done)
            case .drain: drain(peer, done)
            case .ask(let question):
                guard let delegate else { throw .refused("the daemon can't answer yet; try it again") }
                delegate.answer(question, done: done)
            }
        } catch {
            done(.failure(error))
        }
    }

    private func pause(_ name: String?, _ reason: String?, _ peer: String, _ done: @escaping CommandRefusal.Done)
        throws(CommandRefusal)
    {
        let some = try named(name)
        Log.notice("\(Self.said(some)) paused by \(peer)\(reason.map { ": \($0)" } ?? "")")
        queues.pause(some, reason: reason) { [self] in done(.success(report())) }
    }

    private func resume(_ name: String?, _ peer: String, _ done: @escaping CommandRefusal.Done) throws(CommandRefusal) {
        let some = try named(name)
        Log.notice("\(Self.said(some)) resumed by \(peer)")
        if some.contains(where: { $0 !== queues.publish }) { endDrains(.resumed) }
        queues.resume(some) { [self] in done(.success(report())) }
    }

    /// Sets the limit of a queue. Also saves the limit for the next start if `save` is true.
    private func limit(
        _ name: String?, to text: String?, save: Bool, _ peer: String, _ done: @escaping CommandRefusal.Done
    ) throws(CommandRefusal) {
        guard let text else { return done(.success(report())) }
        let queue = try named(name ?? queues.render.name)[0]
        guard let limit = QueueLimit(text) else {
            throw .badValue(
                "'\(text.prefix(50))' is not a limit for a queue; use a number from 0 to \(QueueLimit.range.upperBound), or auto"
            )
        }
        queues.set(limit, of: queue)
        Log.notice("at most \(queue.report.effective) at once in queue \(queue.name), by \(peer)")
        guard save else { return done(.success(report())) }
        queues.save(limit, of: queue) { [self] error in
            guard let error else { return done(.success(report())) }
            done(.failure(.refused("the limit holds until the restart, but can't be saved: \(error)")))
        }
    }

    private func cancelAll(_ peer: String, _ done: @escaping CommandRefusal.Done) {
        Log.notice("cancel of all jobs asked for by \(peer)")
        // An unrestricted choice includes all files that were accepted, claimed or settling before this call.
        var choice = JobChoice()
        choice.cause = "by \(peer)"
        changes.cancel(choice, in: inboxes.all) { [self] cancelled, left in
            if let reason = ledger.unwritableReason ?? left { return done(.failure(.refused(reason))) }
            done(.success(report(cancelled: cancelled)))
        }
    }

    // MARK: - Draining

    /// Pauses the download and render queues. Calls `done` when all work in progress is published and this node has
    /// finished all pictures of other nodes, or when the drain can no longer complete.
    private func drain(_ peer: String, _ done: @escaping CommandRefusal.Done) {
        Log.notice("drained by \(peer): work in progress is finished, and nothing new starts")
        let end = { [self] (end: DrainEnd) in
            switch end {
            case .drained: done(.success(report()))
            case .resumed: done(.failure(.refused("it was resumed before all work was finished")))
            case .heldBack(let count, let obstacle):
                let name = queues.publish.name
                let remedy = queues.publish.report.paused ? "resume \(name)" : "concurrency \(name) auto"
                let pictures = count == 1 ? "1 rendered picture is" : "\(count) rendered pictures are"
                done(
                    .failure(
                        .refused(
                            "\(pictures) not published, and would be rendered again after a restart: the queue \(name) "
                                + "starts nothing (\(obstacle)); `pipectl \(remedy)` publishes, then drain again")))
            }
        }
        queues.pause([queues.download, queues.render], reason: "drained") { [self] in
            drains.append(end)
            checkDrains()
        }
    }

    /// Ends all drains if no work is in progress, or if the remaining work can't be published.
    func checkDrains() {
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

    // MARK: - Reports

    private func named(_ name: String?) throws(CommandRefusal) -> [GatedQueue] {
        guard let name else { return queues.pausable }
        guard name != queues.announce.name else {
            throw .refused("the queue announce can't be paused or limited: it reports events in order")
        }
        guard let queue = queues.pausable.first(where: { $0.name == name }) else {
            throw .noSuchQueue(name, queues: queues.all.map(\.name))
        }
        return [queue]
    }

    private static func said(_ some: [GatedQueue]) -> String { some.map(\.name).joined(separator: ", ") }

    private func report(cancelled: Int? = nil) -> NodeReport {
        NodeReport(cancelled: cancelled, queues: queues.pausable.map(\.nodeReport))
    }
}
