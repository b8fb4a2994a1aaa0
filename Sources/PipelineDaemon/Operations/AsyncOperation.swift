import Foundation
import PipelineModel
import Synchronization

/// An operation whose work is done elsewhere: `start()` sends it off and returns, the answer calls `finish`. No thread of the
/// queue ever waits.
///
/// It keeps a state of its own. Foundation's `cancel()` only marks an operation: one that waits needs a place in its
/// queue before it counts as finished, never gets one while the queue is suspended, and its dependents run all the same. So `state` says
/// `cancelled` at once, and whoever depends on an operation looks at what it provides, not at whether it has finished.
class AsyncOperation: Operation, @unchecked Sendable {
    // `@unchecked`: everything mutable is in `box`; subclasses keep to the supervisor's queue, or to a `Mutex`.

    private struct Box {
        var state = OperationState.pending
        /// What Foundation is told, which for a cancelled operation comes later than `state`.
        var executing = false
        var finished = false
        var ending = false
        /// Its queue counts it among those that run.
        var admitted = false
        /// It is in its queue, and Foundation has it.
        var added = false
        var handedOver = false
        var observer: (@Sendable (AsyncOperation, OperationState) -> Void)?
        var dependents: [AsyncOperation] = []
    }

    private let box = Mutex(Box())
    final let fileWork = FileWork()
    /// The queue it is let in by; set before it is added.
    final var gate: PipelineQueue?
    /// What it is about, for whoever reads the log.
    final var subject: OperationSubject?
    /// Its order at the gate, its lane, and whether Foundation has started it. The gate alone touches these, under its
    /// lock.
    final var place = QueuePlace()
    final var lane = ""
    final var isAtGate = false

    /// Called at each change of `state`, on whatever thread made it; let go of at the last one.
    func observe(_ observer: @escaping @Sendable (AsyncOperation, OperationState) -> Void) {
        box.withLock { $0.observer = observer }
    }

    /// Waits for `other`. Foundation's pointer back from a dependency to its dependents is not retained, and a cancelled dependent may
    /// end, and be let go of, first; so the dependency holds it until it has finished itself.
    final func follow(_ other: AsyncOperation) {
        other.box.withLock { $0.dependents.append(self) }
        addDependency(other)
    }

    final var state: OperationState { box.withLock { $0.state } }

    final var hasBegun: Bool { state != .pending && state != .ready }

    final override var isAsynchronous: Bool { true }
    final override var isExecuting: Bool { box.withLock { $0.executing } }
    final override var isFinished: Bool { box.withLock { $0.finished } }

    final override func start() {
        willChangeValue(for: \.isExecuting)
        box.withLock { $0.executing = true }
        didChangeValue(for: \.isExecuting)
        if isCancelled || state == .cancelled || isInVain { return finish(.cancelled) }
        change(to: .ready, from: [.pending])
        if let gate { gate.enter(self) } else { begin() }
    }

    /// It is in its queue.
    final func added() {
        box.withLock { $0.added = true }
        handOver()
    }

    /// Foundation gets it once nothing is before it: it goes through all that it has whenever one begins or ends.
    private func handOver() {
        guard isReady || isCancelled else { return }
        let isFirst = box.withLock { box in
            defer { if box.added { box.handedOver = true } }
            return box.added && !box.handedOver
        }
        if isFirst { gate?.start(self) }
    }

    /// The work may start now. Nothing happens when it was cancelled first.
    final func begin() {
        guard change(to: .executing, from: [.pending, .ready]) else { return finish(.cancelled) }
        execute()
    }

    /// Asked by its queue, under the queue's lock: counts it as running unless it has been cancelled.
    final func admit() -> Bool {
        box.withLock { box in
            guard box.state == .ready || box.state == .pending else { return false }
            box.admitted = true
            return true
        }
    }

    /// What was to hand it a picture has failed, or was cancelled.
    private var isInVain: Bool { provided == nil && dependencies.contains { $0 is any ImageProviding } }

    /// Sends the work off. Overridden; whatever happens, `finish` is called once.
    func execute() { finish(.finished) }

    /// It was cancelled before it began. Overridden.
    func neverBegan() {}

    /// Stops what `execute` began. Overridden; `finish` is still called when it has stopped.
    func interrupt() {}

    /// It is not to begin any more, which is told its dependents only when it is cancelled; false when it has begun.
    final func withdraw() -> Bool {
        guard change(to: .cancelled, from: [.pending, .ready]) else { return false }
        neverBegan()
        return true
    }

    final override func cancel() {
        super.cancel()
        if withdraw() || state == .cancelled {
            // One that Foundation has started, and a gate holds, must be finished by us; any other by `start`.
            if isExecuting { finish(.cancelled) }
        } else if state == .executing {
            interrupt()
        }
        handOver()
    }

    /// The work is over. Only the first call counts.
    final func finish(_ outcome: OperationState) {
        change(to: outcome, from: [.pending, .ready, .executing])
        let ends = box.withLock { box in
            guard box.executing, !box.ending else { return false }
            box.ending = true
            return true
        }
        guard ends else { return }
        willChangeValue(for: \.isExecuting)
        willChangeValue(for: \.isFinished)
        box.withLock {
            $0.executing = false
            $0.finished = true
        }
        didChangeValue(for: \.isFinished)
        didChangeValue(for: \.isExecuting)
        let (admitted, dependents) = box.withLock { box in
            defer { box.dependents = [] }
            return (box.admitted, box.dependents)
        }
        for dependent in dependents { dependent.handOver() }
        if admitted { gate?.left(self) } else { gate?.gaveUp(self) }
    }

    @discardableResult
    private func change(to next: OperationState, from allowed: Set<OperationState>) -> Bool {
        let (changed, observer) = box.withLock { box in
            guard allowed.contains(box.state) else {
                return (false, nil as (@Sendable (AsyncOperation, OperationState) -> Void)?)
            }
            box.state = next
            // Under the lock, so that the log has them in this order.
            gate?.log(self, next)
            let observer = box.observer
            if next.isFinal { box.observer = nil }
            return (true, observer)
        }
        observer?(self, next)
        return changed
    }
}
