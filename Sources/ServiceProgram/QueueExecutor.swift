package import Dispatch

/// Runs an actor on a serial queue, which plain callbacks can use as well. The daemon creates no `Task`. Instead, a
/// block on the queue calls the actor synchronously.
package final class QueueExecutor: SerialExecutor {
    package let queue: DispatchQueue

    package init(_ label: String) { queue = DispatchQueue(label: label) }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    /// Traps unless the caller runs on this executor's queue.
    package func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }
}

/// An actor on a serial queue. Actors may share an executor.
package protocol QueueActor: Actor {
    nonisolated var executor: QueueExecutor { get }
}

extension QueueActor {
    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    package nonisolated var queue: DispatchQueue { executor.queue }

    package nonisolated func async(_ body: @escaping @Sendable (isolated Self) -> Void) {
        queue.async { self.assumeIsolated(body) }
    }

    package nonisolated func after(_ pause: DispatchTimeInterval, _ body: @escaping @Sendable (isolated Self) -> Void) {
        queue.asyncAfter(deadline: .now() + pause) { self.assumeIsolated(body) }
    }
}
