public import Foundation
import Synchronization

/// An operation whose work is done elsewhere: `start()` sends it off and returns, the answer calls `finish`. No thread
/// of the queue ever waits: blocked ones would not reach the queue's limit, and would starve every other queue.
///
/// It keeps a state of its own, because Foundation's `cancel()` only marks an operation: `state` says `cancelled` at
/// once, while Foundation still runs the dependents of a cancelled operation.
///
/// `@unchecked`: its state is behind a `Mutex`, `ticket` behind its gate's; so is that of every subclass.
open class AsyncOperation: Operation, @unchecked Sendable {
    package typealias Observer = @Sendable (AsyncOperation, OperationState) -> Void

    /// The state that Foundation knows. A cancelled operation reaches it later than its own state.
    private enum Phase {
        /// It is in no queue.
        case new
        /// Its queue keeps it from Foundation while something is before it.
        case added
        /// Foundation has it.
        case handedOver
        /// Foundation has started it.
        case started
        /// It is over, and Foundation does not know yet.
        case ending
        case ended
    }

    private struct Box {
        var state = OperationState.pending
        var phase = Phase.new
        var queue: GatedQueue?
        var subject: (any Sendable)?
        var observer: Observer?
        /// Nil once they are released.
        var dependents: [AsyncOperation]? = []

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

    /// Sends the work off; whatever happens, `finish` is called once.
    open func execute() { finish(.finished) }

    /// It was cancelled before it began.
    open func neverBegan() {}

    /// Stops what `execute` began; `finish` is still called when it has stopped.
    open func interrupt() {}

    // MARK: - Wiring

    /// Called at each change of `state`, on the thread that made it. It is released at the last change: Foundation
    /// never clears its `completionBlock`, which leaks with everything that it holds.
    package func observe(_ observer: @escaping Observer) { box.withLock { $0.observer = observer } }

    /// Waits for `other`, for good: `removeDependency` before `other` has finished would wedge this one for ever.
    package final func follow(_ other: AsyncOperation) {
        // Foundation's pointer to a dependent is unretained, and crashes if a cancelled one is gone before `other`
        // ends.
        other.box.withLock { $0.dependents?.append(self) }
        addDependency(other)
    }

    final func join(_ queue: GatedQueue, _ subject: (any Sendable)?) {
        box.withLock { box in
            // Foundation would end the process, with a poorer message.
            precondition(box.phase == .new, "an operation is added to one queue, once")
            (box.phase, box.queue, box.subject) = (.added, queue, subject)
            queue.tell(subject, box.state)
        }
        handOver()
    }

    /// Foundation gets it once nothing is before it, as after `cancel`: Foundation goes through all its operations whenever
    /// one begins or ends, and one that is not ready can make it lose those that were added later.
    private func handOver() {
        guard isReady else { return }
        let queue = box.withLock { $0.advance(from: .added, to: .handedOver) ? $0.queue : nil }
        queue?.start(self)
    }

    /// It hangs, or goes on elsewhere: another of its queue may begin in its place.
    package final func setAside() { queue?.setAside(self) }

    // MARK: - For Foundation

    public final override var isAsynchronous: Bool { true }
    public final override var isExecuting: Bool { box.withLock { $0.phase == .started || $0.phase == .ending } }
    public final override var isFinished: Bool { box.withLock { $0.phase == .ended } }

    /// Overridden as a whole: Foundation asks nobody for `isAsynchronous`, and learns of changes only by
    /// `willChangeValue` and `didChangeValue`.
    public final override func start() {
        willChangeValue(for: \.isExecuting)
        box.withLock { $0.phase = .started }
        didChangeValue(for: \.isExecuting)
        // Foundation also starts dependents of failed or cancelled operations.
        guard !isCancelled, !isInVain, change(to: .ready, from: [.pending]) else {
            // `cancel` has told Foundation, and may not have come to the state yet: the first of the two says it.
            _ = withdraw()
            return finish(.cancelled)
        }
        if let queue { queue.enter(self) } else { begin() }
    }

    /// The work may start now. Nothing happens when it was cancelled first.
    final func begin() {
        guard change(to: .executing, from: [.pending, .ready]) else { return finish(.cancelled) }
        execute()
    }

    // MARK: - Ends

    /// Keeps it from beginning; false when it has begun. Its followers learn of that when it is cancelled.
    package final func withdraw() -> Bool {
        guard change(to: .cancelled, from: [.pending, .ready]) else { return false }
        neverBegan()
        return true
    }

    public final override func cancel() {
        super.cancel()
        if withdraw() || state == .cancelled {
            // Foundation starts a cancelled operation, and `start` ends it; an operation that has started is ended
            // here.
            if isExecuting { finish(.cancelled) }
        } else if state == .executing {
            interrupt()
        }
        handOver()
    }

    /// The work is over. Only the first call counts.
    package final func finish(_ outcome: OperationState) {
        change(to: outcome, from: [.pending, .ready, .executing])
        guard box.withLock({ $0.advance(from: .started, to: .ending) }) else { return }
        willChangeValue(for: \.isExecuting)
        willChangeValue(for: \.isFinished)
        box.withLock { $0.phase = .ended }
        didChangeValue(for: \.isFinished)
        didChangeValue(for: \.isExecuting)
        // Only now does Foundation count this one as finished, and its dependents as ready.
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
            // Under the lock, so that the trace has them in this order.
            box.queue?.tell(box.subject, next)
            // Foundation keeps an ended operation for as long as one that has followed it.
            defer { if next.isFinal { box.observer = nil } }
            return (true, box.observer)
        }
        observer?(self, next)
        return changed
    }
}
