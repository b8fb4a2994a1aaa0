package import DaemonInterface
package import DaemonRuntime
import JobLedger
import JobModel
import OperationGraph
import PipelineModel
package import WorkerProtocol

/// Executes commands to the daemon as a whole, from its own clients or from another node of the fleet.
@Coordination
package final class Commands {
    private let ledger: Ledger
    private let queues: Queues
    private let limits: QueueLimits
    private let pauses: Pauses
    private let changes: JobChanges
    private let inboxes: Inboxes
    weak var delegate: (any OwnersDelegate)?

    init(
        _ ledger: Ledger, _ queues: Queues, _ limits: QueueLimits, _ pauses: Pauses, _ changes: JobChanges,
        _ inboxes: Inboxes
    ) {
        self.ledger = ledger
        (self.queues, self.limits, self.pauses) = (queues, limits, pauses)
        (self.changes, self.inboxes) = (changes, inboxes)
    }

    /// - Parameter peer: the sender, for the log
    package func obey(_ command: NodeCommand, by peer: String, done: @escaping CommandRefusal.Done) {
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
        pauses.pause(some, reason: reason) { [self] in done(.success(report())) }
    }

    private func resume(_ name: String?, _ peer: String, _ done: @escaping CommandRefusal.Done) throws(CommandRefusal) {
        let some = try named(name)
        Log.notice("\(Self.said(some)) resumed by \(peer)")
        pauses.resume(some) { [self] in done(.success(report())) }
    }

    /// Sets a limit, and saves it if asked to.
    private func limit(
        _ name: String?, to text: String?, save: Bool, _ peer: String, _ done: @escaping CommandRefusal.Done
    ) throws(CommandRefusal) {
        guard let text else { return done(.success(report())) }
        let queue = try named(name ?? queues.render.name)[0]
        guard let limit = QueueLimit(text) else {
            throw .badValue(
                "'\(text.prefix(50))' is no limit for a queue; a number from 0 to \(QueueLimit.range.upperBound), or auto, is"
            )
        }
        limits.set(limit, of: queue)
        Log.notice("at most \(queue.report.effective) at once in queue \(queue.name), by \(peer)")
        guard save else { return done(.success(report())) }
        limits.save(limit, of: queue) { [self] error in
            guard let error else { return done(.success(report())) }
            done(.failure(.refused("the limit holds until the restart, but can't be saved: \(error)")))
        }
    }

    private func cancelAll(_ peer: String, _ done: @escaping CommandRefusal.Done) {
        Log.notice("cancel of all jobs asked for by \(peer)")
        // Includes everything that was accepted, claimed or settling before the call.
        changes.cancel(JobChoice(), in: inboxes.all) { [self] cancelled, left in
            if let reason = ledger.unwritableReason ?? left { return done(.failure(.refused(reason))) }
            done(.success(report(cancelled: cancelled)))
        }
    }

    private func drain(_ peer: String, _ done: @escaping CommandRefusal.Done) {
        Log.notice("drained by \(peer): what is in work is finished, and nothing begins")
        pauses.drain { [self] end in
            switch end {
            case .drained: done(.success(report()))
            case .resumed: done(.failure(.refused("it was resumed before all was finished")))
            case .heldBack(let count, let obstacle):
                let name = queues.publish.name
                let remedy = queues.publish.report.paused ? "resume \(name)" : "concurrency \(name) auto"
                let pictures = count == 1 ? "1 rendered picture is" : "\(count) rendered pictures are"
                done(
                    .failure(
                        .refused(
                            "\(pictures) not published, and would be rendered again after a restart: the queue \(name) "
                                + "begins nothing (\(obstacle)); `pipectl \(remedy)` publishes, then drain again")))
            }
        }
    }

    private func named(_ name: String?) throws(CommandRefusal) -> [GatedQueue] {
        guard let name else { return queues.pausable }
        guard name != queues.announce.name else {
            throw .refused("the queue announce is not paused, nor limited: it tells what has happened, in order")
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
