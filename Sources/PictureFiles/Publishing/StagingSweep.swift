import DaemonRuntime
import Dispatch
import Synchronization

/// Sweeps all outboxes at a start. The start waits briefly for their disks, and goes on without those that do not
/// answer. Nothing is made in an outbox before its sweep, which would remove it.
package final class StagingSweep: Sendable {
    private struct State {
        var left: Set<String>
        var whenSwept: @Coordination @Sendable (String) -> Void = { _ in }
    }

    private static let patience = DispatchTimeInterval.seconds(2)

    private let state: Mutex<State>
    private let group = DispatchGroup()

    package init(_ outboxes: Set<String>, _ publisher: Publisher, _ sweep: @escaping @Sendable (String) -> Void) {
        state = Mutex(State(left: outboxes))
        for outbox in outboxes {
            group.enter()
            publisher.line(of: outbox).take(
                OutboxLine.Turn {
                    sweep(outbox)
                    return []
                } done: { [self] _ in
                    let whenSwept = state.withLock { state in
                        state.left.remove(outbox)
                        return state.whenSwept
                    }
                    Coordination.async { whenSwept(outbox) }
                    group.leave()
                })
        }
    }

    /// Blocks until every disk has answered, or the time is up.
    package func wait() { _ = group.wait(timeout: .now() + Self.patience) }

    /// Returns the outboxes that are not swept yet; calls `done` for each of them later.
    @Coordination
    package func unswept(_ done: @escaping @Coordination @Sendable (String) -> Void) -> Set<String> {
        state.withLock { state in
            state.whenSwept = done
            return state.left
        }
    }
}
