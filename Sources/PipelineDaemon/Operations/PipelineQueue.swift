import Foundation
import PipelineModel
import Synchronization

/// One of the four queues: Foundation's `OperationQueue`, with a gate before each start.
///
/// Suspending Foundation's queue, or lowering its limit, does not reach an operation whose start is already under way. The gate does: it
/// lets an operation begin under the same lock that `pause` and `set` take, so that once these return nothing new starts.
final class PipelineQueue: Sendable {
    private struct State {
        var configured: QueueLimit
        var effective: Int
        var paused = false
        var reason: String?
        /// Held for a stop of the daemon; not the user's doing, and not recorded.
        var closed = false
        /// Held until something is well again that all work needs; not recorded, either.
        var onHold = false
        var running = 0
        /// What hangs is not counted among those that run: its place is another's.
        var aside: Set<ObjectIdentifier> = []
        var held: [AsyncOperation] = []

        mutating func next() -> AsyncOperation? {
            while !paused, !closed, !onHold, running < effective, !held.isEmpty {
                let operation = held.removeFirst()
                guard operation.admit() else { continue }
                running += 1
                return operation
            }
            return nil
        }
    }

    struct Report: Sendable {
        var configured: QueueLimit
        var effective: Int
        var running: Int
        var paused: Bool
        var reason: String?

        /// Why a job behind the pause waits.
        var pauseText: String { "paused" + (reason.map { ": \($0)" } ?? "") }
    }

    let name: String
    /// What `auto` means here.
    private let automatic: @Sendable () -> Int
    private let operations = OperationQueue()
    private let state: Mutex<State>

    init(_ name: String, limit: QueueLimit, automatic: @escaping @Sendable () -> Int) {
        self.name = name
        self.automatic = automatic
        let effective = Self.count(limit, automatic)
        state = Mutex(State(configured: limit, effective: effective))
        operations.name = "pipelined.\(name)"
        operations.maxConcurrentOperationCount = effective
    }

    private static func count(_ limit: QueueLimit, _ automatic: () -> Int) -> Int {
        switch limit {
        case .auto: max(1, automatic())
        case .count(let count): count
        }
    }

    func add(_ operation: AsyncOperation) {
        operation.gate = self
        operations.addOperation(operation)
    }

    var report: Report {
        state.withLock {
            Report(
                configured: $0.configured, effective: $0.effective, running: $0.running, paused: $0.paused,
                reason: $0.reason)
        }
    }

    /// When this returns, nothing new starts.
    func pause(reason: String?) {
        state.withLock {
            $0.paused = true
            $0.reason = reason
        }
        operations.isSuspended = true
    }

    func resume() {
        state.withLock {
            $0.paused = false
            $0.reason = nil
        }
        operations.isSuspended = false
        pump()
    }

    /// The same as long as something is not well.
    func hold(_ hold: Bool) {
        state.withLock { $0.onHold = hold }
        pump()
    }

    /// The same for good: the daemon is stopping.
    func close() {
        state.withLock { $0.closed = true }
    }

    /// When this returns, nothing new starts beyond the limit. What runs goes on.
    func set(_ limit: QueueLimit) {
        let effective = Self.count(limit, automatic)
        state.withLock {
            $0.configured = limit
            $0.effective = effective
        }
        makeRoom()
    }

    /// The operation hangs: another may begin in its place.
    func setAside(_ operation: AsyncOperation) {
        state.withLock { if $0.aside.insert(ObjectIdentifier(operation)).inserted { $0.running -= 1 } }
        makeRoom()
    }

    private func makeRoom() {
        operations.maxConcurrentOperationCount = state.withLock { $0.effective + $0.aside.count }
        pump()
    }

    /// Foundation has started the operation; it begins now, or when there is room.
    func enter(_ operation: AsyncOperation) {
        state.withLock { $0.held.append(operation) }
        pump()
        // One that was cancelled while it was held ends here, or in `AsyncOperation.cancel`.
        if operation.state == .cancelled { operation.finish(.cancelled) }
    }

    /// An operation that was let in has ended.
    func left(_ operation: AsyncOperation) {
        let hung = state.withLock { state in
            let hung = state.aside.remove(ObjectIdentifier(operation)) != nil
            if !hung { state.running -= 1 }
            return hung
        }
        if hung { return makeRoom() }
        pump()
    }

    private func pump() {
        while let operation = state.withLock({ $0.next() }) { operation.begin() }
    }
}
