package import Dispatch

/// The supervisor, its pools of workers and the starts of operations share one queue. Each hands over to the others
/// several times a job, and handing over between threads would cost more than the work. Code on the queue never blocks.
@globalActor
package actor Coordination {
    package static let shared = Coordination()
    package static let executor = QueueExecutor("pipelined.coordination")
    package static var queue: DispatchQueue { executor.queue }

    package nonisolated var unownedExecutor: UnownedSerialExecutor { Self.executor.asUnownedSerialExecutor() }

    /// For code that runs on the queue; traps on any other queue.
    package static func assumeIsolated<T: Sendable>(_ body: @Coordination () throws -> T) rethrows -> T {
        executor.checkIsolated()
        return try withoutActuallyEscaping(body) { try unsafeBitCast($0, to: (() throws -> T).self)() }
    }

    package static func async(_ body: @escaping @Coordination @Sendable () -> Void) {
        queue.async { assumeIsolated(body) }
    }

    package static func at(_ time: DispatchTime, _ body: @escaping @Coordination @Sendable () -> Void) {
        queue.asyncAfter(deadline: time) { assumeIsolated(body) }
    }

    package static func after(_ pause: Duration, _ body: @escaping @Coordination @Sendable () -> Void) {
        at(.now() + pause.dispatch, body)
    }

    package static func notify(_ group: DispatchGroup, _ body: @escaping @Coordination @Sendable () -> Void) {
        group.notify(queue: queue) { assumeIsolated(body) }
    }

    /// Enters from another queue, and returns when `body` is done.
    package static func sync<T: Sendable>(_ body: @Coordination () throws -> T) rethrows -> T {
        try queue.sync { try assumeIsolated(body) }
    }
}
