import Foundation

/// Holds others up until it is opened.
public final class Gate: Sendable {
    private let condition = NSCondition()
    // Behind `condition`.
    nonisolated(unsafe) private var state: Bool

    public init(isOpen: Bool = false) { state = isOpen }

    public var isOpen: Bool { condition.withLock { state } }

    public func open() {
        condition.withLock {
            state = true
            condition.broadcast()
        }
    }

    public func wait() {
        condition.withLock { while !state { condition.wait() } }
    }
}
