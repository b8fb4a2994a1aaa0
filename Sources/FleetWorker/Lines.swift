import Foundation
import Synchronization

/// The current connection to a server. Threads can wait until there is a connection.
final class Lines: Sendable {
    private let condition = NSCondition()
    private let state = Mutex<Line?>(nil)

    var current: Line? { state.withLock { $0 } }

    func set(_ line: Line?) {
        let old = state.withLock { state in
            defer { state = line }
            return state
        }
        stir()
        // Releases the old line outside the lock, because its deinit waits for libnats' threads.
        withExtendedLifetime(old) {}
    }

    /// Wakes all threads in `wait`, so that each checks `isWanted` again.
    func stir() {
        condition.withLock { condition.broadcast() }
    }

    /// Waits for a connection. Returns nil once `isWanted` returns false. Call `stir` when the result of `isWanted` may
    /// have changed.
    func wait(while isWanted: () -> Bool) -> Line? {
        condition.withLock {
            while isWanted() {
                if let line = current { return line }
                condition.wait()
            }
            return nil
        }
    }
}
