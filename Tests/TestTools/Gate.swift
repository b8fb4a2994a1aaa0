import Foundation
import Synchronization

/// Blocks all waiting threads until it is opened.
public final class Gate: Sendable {
    private let condition = NSCondition()
    private let state: Mutex<Bool>

    public init(isOpen: Bool = false) { state = Mutex(isOpen) }

    public var isOpen: Bool { state.withLock { $0 } }

    public func open() {
        condition.withLock {
            state.withLock { $0 = true }
            condition.broadcast()
        }
    }

    public func wait() {
        condition.withLock { while !isOpen { condition.wait() } }
    }
}
