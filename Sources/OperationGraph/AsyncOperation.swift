public import Foundation
import Synchronization

/// An operation whose work is asynchronous: `execute` starts the work and returns, and the work calls `finish` when it
/// is done. No thread of the queue waits until the work is done, because blocked threads would keep the queue from
/// reaching its limit, and would starve all other queues.
///
/// The class has its own `state`, because Foundation's `cancel()` only marks an operation, and Foundation then still
/// runs the operation's dependents. Here `cancel()` sets `state` to `cancelled` immediately, unless the operation has
/// begun.
///
/// Rules for a subclass:
/// - `execute` is called at most once, on the thread that admits the operation. Either Foundation calls `start` on this
///   thread, or the thread makes a call that opens the gate, such as `add`, `resume`, `set` or the `finish` of another
///   operation.
/// - `interrupt` is called at most once, after `execute` has returned, on the thread that calls `cancel` or the thread
///   of `execute`. It may race with `finish`. If a subclass creates its task only after `execute` has returned,
///   `interrupt` may come before the task exists. So once the subclass has created the task, it must check
///   `isCancelled`, which is true before `interrupt` is called.
/// - `neverBegan` is called at most once, and only if neither `execute` nor `interrupt` is ever called. It runs on the
///   thread that calls `cancel` or `withdraw`, or on the thread on which Foundation calls `start`.
/// - The work must call `finish` once it is done, even after `interrupt`. It may call `finish` on any thread, even
///   within `execute`.
///
/// `@unchecked`: a `Mutex` guards the state, and the gate's lock guards `ticket`. A subclass must guard its own state.
open class AsyncOperation: Operation, @unchecked Sendable {
    package typealias Observer = @Sendable (AsyncOperation, OperationState) -> Void

    /// How far Foundation has processed the operation. For a cancelled operation, the phase lags behind `state`.
    private enum Phase {
        /// The operation is in no queue yet.
        case new
        /// The operation is in a `GatedQueue`, which hands it to Foundation once its dependencies have finished.
        case added
        /// Foundation's queue contains the operation.
        case handedOver
        /// Foundation has called `start`.
        case started
        /// The operation has finished, but Foundation has not been notified yet.
        case ending
        case ended
    }

    private enum Interruption { case none, wanted, made }

    private struct Box {
        var state = OperationState.pending
        var phase = Phase.new
        var queue: GatedQueue?
        var subject: (any Sendable)?
        var observer: Observer?
        /// Dependents, retained until this operation finishes and hands them to Foundation; then nil.
        var dependents: [AsyncOperation]? = []
        var hasExecuted = false
        var interruption = Interruption.none

        /// Returns true, at most once, if the caller must call `interrupt` now.
        mutating func takeInterruption() -> Bool {
            guard state == .executing, hasExecuted, interruption == .wanted else { return false }
            interruption = .made
            return true
        }

        mutating func advance(from former: Phase, to next: Phase) -> Bool {
            guard phase == former else { return false }
            phase = next
            return true
        }
    }

    private let box = Mutex(Box())
    package final let fileWork = FileWork()
    final var ticket = Ticket()

    package final var state: OperationState { box.withLock { $0.state } }

    package final var queue: GatedQueue? { box.withLock { $0.queue } }

    package final var hasBegun: Bool { state != .pending && state != .ready }

    // MARK: - To be overridden

    /// Starts the work, and returns without waiting. The work must call `finish`, whatever happens.
    open func execute() { finish(.finished) }

    /// Called instead of `execute` if the operation is cancelled before it begins, or if it depends on providers and
    /// none of them has a product.
    open func neverBegan() {}

    /// Asks the work to stop. The work must still call `finish` once it has stopped.
    open func interrupt() {}

    // MARK: - Wiring

    /// Sets the observer, which is called after each change of `state`, on the thread that made the change. The
    /// observer is released after the last change. Foundation's `completionBlock` is no alternative: Foundation never
    /// clears it, so the block leaks with everything that it retains.
    package func observe(_ observer: @escaping Observer) { box.withLock { $0.observer = observer } }

    /// Makes this operation wait for `other`. Don't call `removeDependency` before `other` has finished: this operation
    /// would then never start.
    package final func follow(_ other: AsyncOperation) {
        // Foundation does not retain dependents, and crashes if a cancelled dependent is freed before `other` finishes.
        other.box.withLock { $0.dependents?.append(self) }
        addDependency(other)
    }

    final func join(_ queue: GatedQueue, _ subject: (any Sendable)?) {
        box.withLock { box in
            // Foundation also rejects a second addition, but with a less helpful message.
            precondition(box.phase == .new, "an operation is added to one queue, once")
            (box.phase, box.queue, box.subject) = (.added, queue, subject)
            queue.tell(subject, box.state)
        }
        handOver()
    }

    /// Hands the operation to Foundation if its dependencies have finished, or if it is cancelled. Foundation must not
    /// get an operation earlier: Foundation scans all its operations whenever any operation begins or finishes, and an
    /// operation that is not ready can make Foundation lose later operations.
    private func handOver() {
        guard isReady else { return }
        let queue = box.withLock { $0.advance(from: .added, to: .handedOver) ? $0.queue : nil }
        queue?.start(self)
    }

    /// Frees the queue slot of an unfinished operation that hangs, or that the fleet executes.
    package final func setAside() { queue?.setAside(self) }

    // MARK: - For Foundation

    public final override var isAsynchronous: Bool { true }
    public final override var isExecuting: Bool { box.withLock { $0.phase == .started || $0.phase == .ending } }
    public final override var isFinished: Bool { box.withLock { $0.phase == .ended } }

    /// Does not call `super`. `willChangeValue` and `didChangeValue` notify Foundation of each change, because
    /// Foundation ignores `isAsynchronous`.
    public final override func start() {
        willChangeValue(for: \.isExecuting)
        box.withLock { $0.phase = .started }
        didChangeValue(for: \.isExecuting)
        // Foundation also starts operations whose dependencies failed or were cancelled.
        guard !isCancelled, !isInVain, change(to: .ready, from: [.pending]) else {
            // If `cancel` is running on another thread, it may have marked the operation, but not changed its state
            // yet. The faster thread changes the state.
            _ = withdraw()
            return finish(.cancelled)
        }
        if let queue { queue.enter(self) } else { begin() }
    }

    /// Begins the work, unless the operation was cancelled first.
    final func begin() {
        guard change(to: .executing, from: [.pending, .ready]) else { return finish(.cancelled) }
        execute()
        let isInterrupted = box.withLock { box in
            box.hasExecuted = true
            return box.takeInterruption()
        }
        if isInterrupted { interrupt() }
    }

    // MARK: - Completion

    /// Cancels the operation if it has not begun; returns false if it has begun. Unlike `cancel`, does not release the
    /// operation's dependents.
    package final func withdraw() -> Bool {
        guard change(to: .cancelled, from: [.pending, .ready]) else { return false }
        neverBegan()
        return true
    }

    public final override func cancel() {
        super.cancel()
        if withdraw() || state == .cancelled {
            // An operation that Foundation has started finishes here. Any other operation finishes in `start`, which
            // Foundation calls for cancelled operations as well.
            if isExecuting { finish(.cancelled) }
        } else if box.withLock({ box in
            if box.interruption == .none { box.interruption = .wanted }
            return box.takeInterruption()
        }) {
            interrupt()
        }
        handOver()
    }

    /// Finishes the operation. May be called on any thread; only the first call counts. Other operations may begin on
    /// the calling thread before the call returns.
    package final func finish(_ outcome: OperationState) {
        change(to: outcome, from: [.pending, .ready, .executing])
        guard box.withLock({ $0.advance(from: .started, to: .ending) }) else { return }
        willChangeValue(for: \.isExecuting)
        willChangeValue(for: \.isFinished)
        box.withLock { $0.phase = .ended }
        didChangeValue(for: \.isFinished)
        didChangeValue(for: \.isExecuting)
        // From now on Foundation counts this operation as finished, and its dependents as ready.
        let (queue, dependents) = box.withLock { box in
            defer { box.dependents = nil }
            return (box.queue, box.dependents ?? [])
        }
        for dependent in dependents { dependent.handOver() }
        queue?.leave(self)
    }

    @discardableResult
    private func change(to next: OperationState, from allowed: Set<OperationState>) -> Bool {
        let (changed, observer) = box.withLock { box -> (Bool, Observer?) in
            guard allowed.contains(box.state) else { return (false, nil) }
            box.state = next
            // The trace is called under the lock, so that it receives the changes in order.
            box.queue?.tell(box.subject, next)
            // Foundation retains a finished operation until its dependents are freed, so release the observer now.
            defer { if next.isFinal { box.observer = nil } }
            return (true, box.observer)
        }
        observer?(self, next)
        return changed
    }
}
