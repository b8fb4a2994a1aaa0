package import Dispatch
package import ServiceProgram

/// The serial queue that the supervisor, its worker pools and the starts of operations share. These parts call each
/// other several times for each job, and a change of thread for each call would cost more than the work. Code on this
/// queue must never block.
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

    /// Runs `body` on the queue, and returns its result. Must be called from another queue.
    package static func sync<T: Sendable>(_ body: @Coordination () throws -> T) rethrows -> T {
        try queue.sync { try assumeIsolated(body) }
    }
}

/// A callback that receives a result on the coordination queue.
package typealias Done<Value> = @Coordination @Sendable (Value) -> Void
