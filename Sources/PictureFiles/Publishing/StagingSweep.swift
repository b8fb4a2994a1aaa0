import DaemonRuntime
import Dispatch
import ServiceProgram
import Synchronization

/// Sweeps the staging folders of all outboxes at startup. The startup waits briefly for their disks, and continues
/// without the disks that do not answer. No result is made in an outbox before its sweep, because the sweep would
/// remove the result.
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

    /// Blocks until every disk has answered, but at most two seconds.
    package func wait() { _ = group.wait(timeout: .now() + Self.patience) }

    /// Returns the outboxes that are not swept yet; calls `done` with each of them when it is swept.
    @Coordination
    package func unswept(_ done: @escaping @Coordination @Sendable (String) -> Void) -> Set<String> {
        state.withLock { state in
            state.whenSwept = done
            return state.left
        }
    }
}
