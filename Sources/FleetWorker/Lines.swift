import Foundation
import Synchronization

/// The line in use; a thread can wait for it.
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
        // Released after the lock, because the line's deinit waits for threads of libnats.
        withExtendedLifetime(old) {}
    }

    /// Wakes all waiting threads, which check again.
    func stir() {
        condition.withLock { condition.broadcast() }
    }

    /// Waits for a line; returns nil when the line is no longer wanted.
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
