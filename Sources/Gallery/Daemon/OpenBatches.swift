import Dispatch
import PipelineControl
import ServiceProgram

/// The batches that are open for uploads. The daemon closes a batch when the connection that made it ends. So the
/// gallery keeps that connection until a client closes the batch, or adds nothing for a while.
actor OpenBatches: QueueActor {
    typealias Answer = Result<ControlCalls.Answered<Call.NewBatch.Reply>, NoAnswer>

    private struct Batch {
        var ticket: ControlCalls.Ticket
        var ends: DispatchTime
    }

    /// How long a batch stays open after the latest upload.
    private static let life = DispatchTimeInterval.seconds(15 * 60)
    /// Maximum open batches, each of which occupies a connection to the daemon.
    private static let most = 64

    nonisolated let executor: QueueExecutor
    private let calls: ControlCalls
    private var batches: [Int: Batch] = [:]

    init(_ calls: ControlCalls, on executor: QueueExecutor) { (self.calls, self.executor) = (calls, executor) }

    nonisolated func open(_ call: Call.NewBatch, _ done: @escaping @Sendable (Answer) -> Void) {
        async { open in
            guard open.batches.count < Self.most else {
                return done(.failure(.away("\(Self.most) batches are open: close one, or ask again later")))
            }
            open.calls.keep(call) { [self] answer, ticket in
                guard case .success(let answered) = answer else { return done(answer) }
                async { open in
                    open.add(answered.reply.batch, ticket)
                    done(answer)
                }
            }
        }
    }

    /// Keeps the batch open longer, because a client has added something to it.
    nonisolated func touch(_ batch: Int) { async { $0.batches[batch]?.ends = .now() + Self.life } }

    nonisolated func close(_ batch: Int) { async { $0.remove(batch) } }

    private func add(_ batch: Int, _ ticket: ControlCalls.Ticket) {
        batches[batch] = Batch(ticket: ticket, ends: .now() + Self.life)
        closeIfIdle(batch)
    }

    private func closeIfIdle(_ batch: Int) {
        guard let ends = batches[batch]?.ends else { return }
        let now = DispatchTime.now()
        guard ends > now else { return remove(batch) }
        let left = Int(ends.uptimeNanoseconds - now.uptimeNanoseconds)
        after(.nanoseconds(left)) { $0.closeIfIdle(batch) }
    }

    private func remove(_ batch: Int) { batches.removeValue(forKey: batch)?.ticket.withdraw() }
}
