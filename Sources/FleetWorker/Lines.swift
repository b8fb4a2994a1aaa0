import Foundation
import Synchronization

/// The line in use, for those that wait for one.
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
        // A line's end waits for threads of libnats.
        withExtendedLifetime(old) {}
    }

    /// Wakes all that wait, to look again.
    func stir() {
        condition.withLock { condition.broadcast() }
    }

    /// Waits for a line; nil when it is not wanted any more.
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
