public import Foundation
import Synchronization

/// An operation whose work is done elsewhere: `execute` sends the work off and returns, and the answer calls `finish`.
/// No thread of the queue waits: blocked threads would keep the queue from its limit, and starve every other queue.
///
/// It keeps a state of its own, because Foundation's `cancel()` only marks an operation, and Foundation still runs the
/// dependents. Here `state` becomes `cancelled` at once, unless the operation has begun.
///
/// The calls to a subclass:
/// - `execute` is called at most once, on the thread that lets the operation in. That is Foundation's start, on the
///   queue's `DispatchQueue`, or any call that opens the gate: `add`, `resume`, `set`, another operation's `finish`, …
/// - `interrupt` is called at most once, after `execute` has returned, on the thread that calls `cancel` or on that of
///   `execute`. It may race with `finish`. `isCancelled` is true before: a subclass that makes its task later than in
///   `execute` checks that then.
/// - `neverBegan` is called at most once, and then neither `execute` nor `interrupt`. It comes on the thread that calls
///   `cancel` or `withdraw`, or on that of Foundation's start.
/// - The work calls `finish`, on any thread, also within `execute`. It must do so after `interrupt` as well.
///
/// `@unchecked`: its state is behind a `Mutex`, and `ticket` behind the lock of its gate; a subclass guards its own.
open class AsyncOperation: Operation, @unchecked Sendable {
    package typealias Observer = @Sendable (AsyncOperation, OperationState) -> Void

    /// How far Foundation is with the operation; for a cancelled operation this lags behind `state`.
    private enum Phase {
        /// It is in no queue yet.
        case new
        /// It is in a queue, which keeps it from Foundation until its dependencies have finished.
        case added
        /// Foundation has it.
        case handedOver
        /// Foundation has started it.
        case started
        /// It is over, but Foundation does not know yet.
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
        /// Dependents, retained until they are handed over; then nil.
        var dependents: [AsyncOperation]? = []
        var hasExecuted = false
        var interruption = Interruption.none

        /// Whether `interrupt` is to be called now, by the caller.
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

    /// Called instead of `execute` if the operation is cancelled first, or none of its providers has a product.
    open func neverBegan() {}

    /// Stops the work; `finish` must still be called when the work has stopped.
    open func interrupt() {}

    // MARK: - Wiring

    /// Sets the observer, which is called at each change of `state`, on the thread that made the change. It is released
    /// at the last change: Foundation never clears its own `completionBlock`, which leaks with everything that it
    /// holds.
    package func observe(_ observer: @escaping Observer) { box.withLock { $0.observer = observer } }

    /// Makes this operation wait for `other`. It would hang if `removeDependency` were called before `other` has
    /// finished.
    package final func follow(_ other: AsyncOperation) {
        // Foundation's pointer to a dependent is unretained. It crashes if a cancelled dependent is freed before
        // `other` ends.
        other.box.withLock { $0.dependents?.append(self) }
        addDependency(other)
    }

    final func join(_ queue: GatedQueue, _ subject: (any Sendable)?) {
        box.withLock { box in
            // Foundation's own check has a poorer message.
            precondition(box.phase == .new, "an operation is added to one queue, once")
            (box.phase, box.queue, box.subject) = (.added, queue, subject)
            queue.tell(subject, box.state)
        }
        handOver()
    }

    /// Hands the operation to Foundation once its dependencies have finished, or it is cancelled. Foundation goes
    /// through all its operations whenever one begins or ends, and an operation that is not ready can make it lose
    /// later ones.
    private func handOver() {
        guard isReady else { return }
        let queue = box.withLock { $0.advance(from: .added, to: .handedOver) ? $0.queue : nil }
        queue?.start(self)
    }

    /// Frees the operation's place in its queue, because it hangs or goes on elsewhere.
    package final func setAside() { queue?.setAside(self) }

    // MARK: - For Foundation

    public final override var isAsynchronous: Bool { true }
    public final override var isExecuting: Bool { box.withLock { $0.phase == .started || $0.phase == .ending } }
    public final override var isFinished: Bool { box.withLock { $0.phase == .ended } }

    /// Overridden without `super`: Foundation ignores `isAsynchronous`, and learns of changes only through
    /// `willChangeValue` and `didChangeValue`.
    public final override func start() {
        willChangeValue(for: \.isExecuting)
        box.withLock { $0.phase = .started }
        didChangeValue(for: \.isExecuting)
        // Foundation also starts dependents of failed or cancelled operations.
        guard !isCancelled, !isInVain, change(to: .ready, from: [.pending]) else {
            // `cancel` marks the operation before it changes the state, so either thread may change the state first.
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

    // MARK: - Ends

    /// Cancels an operation that has not begun; false if it has. Its followers learn of that only from `cancel`.
    package final func withdraw() -> Bool {
        guard change(to: .cancelled, from: [.pending, .ready]) else { return false }
        neverBegan()
        return true
    }

    public final override func cancel() {
        super.cancel()
        if withdraw() || state == .cancelled {
            // An operation that Foundation has started ends here. Any other ends in `start`, which Foundation calls for
            // cancelled operations as well.
            if isExecuting { finish(.cancelled) }
        } else if box.withLock({ box in
            if box.interruption == .none { box.interruption = .wanted }
            return box.takeInterruption()
        }) {
            interrupt()
        }
        handOver()
    }

    /// Ends the operation, from any thread; only the first call counts. Other operations may begin on this thread.
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
            // Under the lock, so that the trace keeps the order of the changes.
            box.queue?.tell(box.subject, next)
            // Foundation keeps an ended operation alive as long as its followers; its observer would live as long.
            defer { if next.isFinal { box.observer = nil } }
            return (true, box.observer)
        }
        observer?(self, next)
        return changed
    }
}
