import DaemonRuntime
import Foundation
import PipelineModel
import Synchronization

/// One of the four queues: Foundation's `OperationQueue`, with a gate before each start.
///
/// Foundation starts an operation as soon as those that it depends on have finished. Who begins, and when, the gate decides: Foundation's
/// own limit and suspension don't reach an operation whose start is under way, its order can't be changed once an operation
/// is added, and it gives a cancelled one its end only when there is a place. The gate lets an operation begin under the same lock
/// that `pause` and `set` take, so that once these return nothing new starts.
///
/// `@unchecked`: the `place` and `lane` of an operation are touched under the lock.
final class PipelineQueue: @unchecked Sendable {
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
        /// Let in before Foundation has started them, which it is about to.
        var awaited: Set<ObjectIdentifier> = []
        /// Set while a thread lets operations in; one at a time, so that they begin in the order of their turns.
        var pumping = false
        /// By the host of their operations; an empty name where there is none.
        var lanes: [String: GateLane] = [:]
        /// How many operations of one lane may run.
        var laneLimit = Int.max
        /// How many have been let in, ever.
        var turns = 0

        mutating func hold(_ operation: AsyncOperation) {
            lanes[operation.lane, default: GateLane()].hold(operation)
        }

        mutating func release(_ operation: AsyncOperation) {
            lanes[operation.lane]?.release(operation)
            sweep(operation.lane)
        }

        /// A place is free again.
        mutating func free(_ operation: AsyncOperation) {
            running -= 1
            lanes[operation.lane]?.running -= 1
            sweep(operation.lane)
        }

        private mutating func sweep(_ lane: String) {
            if lanes[lane]?.isEmpty == true { lanes[lane] = nil }
        }

        /// The lane whose turn it is.
        private var nextLane: String? {
            let ready = lanes.lazy.filter { !$0.value.held.isEmpty && $0.value.running < laneLimit }
            return ready.min { $0.value.precedes($1.value) }?.key
        }

        /// The next operation to begin now. Nil ends the caller's turn at pumping.
        mutating func next() -> AsyncOperation? {
            while !paused, !closed, !onHold, running < effective, let name = nextLane, var lane = lanes[name] {
                lanes[name] = nil
                let operation = lane.takeFirst()
                let isAdmitted = operation.admit()
                if isAdmitted {
                    running += 1
                    turns += 1
                    lane.running += 1
                    lane.served = turns
                }
                if !lane.isEmpty { lanes[name] = lane }
                guard isAdmitted else { continue }
                if operation.isAtGate { return operation }
                awaited.insert(ObjectIdentifier(operation))
            }
            pumping = false
            return nil
        }

        /// Whether the caller is to let operations in.
        mutating func beginPumping() -> Bool {
            defer { pumping = true }
            return !pumping
        }

        /// Foundation has started it; true when it has been let in already.
        mutating func enter(_ operation: AsyncOperation, isHeld: Bool) -> Bool {
            operation.isAtGate = true
            if awaited.remove(ObjectIdentifier(operation)) != nil { return true }
            if !isHeld { hold(operation) }
            return false
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
    /// Operations begin one by one as Foundation starts them: in the order in which what they depend on has finished.
    private let isSerial: Bool
    /// Each state of an operation is a line of the log.
    private let isLogged = Atomic(false)
    private let operations = OperationQueue()
    private let state: Mutex<State>

    init(
        _ name: String, limit: QueueLimit, isSerial: Bool = false, automatic: @escaping @Sendable () -> Int
    ) {
        self.name = name
        self.isSerial = isSerial
        self.automatic = automatic
        let effective = Self.count(limit, automatic)
        state = Mutex(State(configured: limit, effective: effective))
        operations.name = "pipelined.\(name)"
        operations.underlyingQueue = Coordination.queue
        if isSerial { operations.maxConcurrentOperationCount = 1 }
    }

    /// What `auto` comes to now.
    var automaticCount: Int { max(1, automatic()) }

    private static func count(_ limit: QueueLimit, _ automatic: () -> Int) -> Int {
        switch limit {
        case .auto: max(1, automatic())
        case .count(let count): count
        }
    }

    /// Operations of one `lane` are subject to its limit as well, and lanes take turns.
    func add(
        _ operation: AsyncOperation, of subject: OperationSubject? = nil, at place: QueuePlace = QueuePlace(),
        lane: String = ""
    ) {
        operation.gate = self
        operation.subject = subject
        log(operation, operation.state)
        state.withLock { state in
            operation.place = place
            operation.lane = lane
            if isHeldFromTheStart(operation) { state.hold(operation) }
        }
        operation.added()
        pump()
    }

    /// Nothing is before the operation any more: Foundation starts it.
    func start(_ operation: AsyncOperation) { operations.addOperation(operation) }

    /// What waits for no other is held before Foundation starts it, on whatever thread: the order counts, not who arrives first.
    private func isHeldFromTheStart(_ operation: AsyncOperation) -> Bool {
        !isSerial && operation.dependencies.isEmpty
    }

    func log(operations: Bool) { isLogged.store(operations, ordering: .relaxed) }

    func log(_ operation: AsyncOperation, _ state: OperationState) {
        guard isLogged.load(ordering: .relaxed), let subject = operation.subject else { return }
        Log.notice("\(name) \(subject): \(state.rawValue)", of: subject.fields)
    }

    /// Answers as long as Foundation starts what is added, whatever is paused or full.
    func ask(_ answer: @escaping @Sendable () -> Void) { operations.addOperation(answer) }

    var report: Report {
        state.withLock {
            Report(
                configured: $0.configured, effective: $0.effective, running: $0.running, paused: $0.paused,
                reason: $0.reason)
        }
    }

    /// When this returns, nothing new starts. Without a reason the former one stays. Returns the reason in force.
    @discardableResult
    func pause(reason: String?) -> String? {
        state.withLock {
            $0.paused = true
            $0.reason = reason ?? $0.reason
            return $0.reason
        }
    }

    func resume() {
        state.withLock {
            $0.paused = false
            $0.reason = nil
        }
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
        pump()
    }

    /// How many operations of one lane may run.
    func set(lane limit: Int) {
        state.withLock { $0.laneLimit = limit }
        pump()
    }

    /// Looks what `auto` means now; true when that is another number.
    func followAutomatic() -> Bool {
        let automatic = max(1, automatic())
        let isNews = state.withLock { state in
            guard state.configured == .auto, state.effective != automatic else { return false }
            state.effective = automatic
            return true
        }
        if isNews { pump() }
        return isNews
    }

    /// The operation hangs: another may begin in its place.
    func setAside(_ operation: AsyncOperation) {
        state.withLock { if $0.aside.insert(ObjectIdentifier(operation)).inserted { $0.free(operation) } }
        pump()
    }

    /// Foundation has started the operation; it begins now, or when its turn has come.
    func enter(_ operation: AsyncOperation) {
        let isHeld = isHeldFromTheStart(operation)
        if state.withLock({ $0.enter(operation, isHeld: isHeld) }) { return operation.begin() }
        pump()
        // One that was cancelled while it was held ends here, or in `AsyncOperation.cancel`.
        guard operation.state == .cancelled else { return }
        gaveUp(operation)
        operation.finish(.cancelled)
    }

    /// An operation that was let in has ended.
    func left(_ operation: AsyncOperation) {
        state.withLock { state in
            state.awaited.remove(ObjectIdentifier(operation))
            if state.aside.remove(ObjectIdentifier(operation)) == nil { state.free(operation) }
        }
        pump()
    }

    /// One that was not let in has ended.
    func gaveUp(_ operation: AsyncOperation) {
        state.withLock { $0.release(operation) }
    }

    private func pump() {
        guard state.withLock({ $0.beginPumping() }) else { return }
        while let operation = state.withLock({ $0.next() }) { operation.begin() }
    }
}
