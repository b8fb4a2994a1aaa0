package import Dispatch
import Foundation
import Synchronization

/// A queue that wraps Foundation's `OperationQueue`, with a gate that each operation must pass before it begins.
///
/// Foundation calls `start` on an operation as soon as its dependencies have finished. The gate then decides which
/// operation begins, and when. Foundation's own limit and suspension are not enough, because they have no effect on an
/// operation that Foundation is starting already.
///
/// The gate admits operations under the lock that `pause` and `set` take. Both calls then wait until the operations
/// that are beginning on other threads have begun. So once `pause` or `set` has returned, the operations that the call
/// holds back can't begin any more.
package final class GatedQueue: Sendable {
    /// Receives each new state of each operation, in order, with the operation's subject. The trace must not call the
    /// operation.
    package typealias Trace = @Sendable (_ queue: String, _ subject: any Sendable, _ state: OperationState) -> Void

    package struct Report: Sendable {
        /// The configured limit; nil if `automatic` decides.
        package var configured: Int?
        package var effective: Int
        package var running: Int
        package var paused: Bool
        package var reason: String?
    }

    package let name: String
    private let automatic: @Sendable () -> Int
    /// Whether operations begin one by one, in the order in which they become ready.
    private let isSerial: Bool
    /// Never add a barrier block: while such a block is pending, adding a cancelled operation causes a deadlock.
    private let operations = OperationQueue()
    private let gate: Mutex<Gate>
    /// Tracks the operations that are beginning now, so that `waitForBeginnings` can wait for them.
    private let beginnings = DispatchGroup()
    private let tracer = Mutex<Trace?>(nil)

    /// `limit` is the maximum number of running operations. If `limit` is nil, `automatic` returns the maximum, and a
    /// result below 1 counts as 1. Foundation starts operations on `queue`.
    package init(
        _ name: String, limit: Int?, isSerial: Bool = false, on queue: DispatchQueue,
        automatic: @escaping @Sendable () -> Int
    ) {
        (self.name, self.isSerial, self.automatic) = (name, isSerial, automatic)
        gate = Mutex(Gate(configured: limit, limit: limit ?? max(1, automatic())))
        operations.name = "pipelined.\(name)"
        operations.underlyingQueue = queue
        if isSerial { operations.maxConcurrentOperationCount = 1 }
    }

    /// Adds an operation. Operations with the same `lane` also share the lane's limit, and the gate serves the lanes in
    /// turn. The trace receives `subject`.
    package func add(
        _ operation: AsyncOperation, of subject: (any Sendable)? = nil, at place: QueuePlace = QueuePlace(),
        lane: GateLane.Name = GateLane.Name()
    ) {
        gate.withLock { gate in
            operation.ticket = Ticket(place: place, lane: lane)
            // Lines up the operation before Foundation starts it on some thread. So `place` decides when the operation
            // begins, not the order in which threads arrive.
            if !isSerial, operation.dependencies.isEmpty { gate.lineUp(operation, isStarted: false) }
        }
        operation.join(self, subject)
        pump()
    }

    /// Sets the receiver of all changes of state; nil removes it.
    package func trace(_ trace: Trace?) { tracer.withLock { $0 = trace } }

    /// Tests whether Foundation is stuck. The operation with `answer` bypasses the gate, so Foundation runs it even if
    /// the queue is paused or full. In a serial queue, `answer` waits for the running operation.
    package func ask(_ answer: @escaping @Sendable () -> Void) { operations.addOperation(answer) }

    package var report: Report {
        gate.withLock {
            Report(
                configured: $0.configured, effective: $0.limit, running: $0.running,
                paused: $0.holds.contains(.paused), reason: $0.reason)
        }
    }

    /// The groups in which the limit of a lane holds back operations although the queue itself has room.
    package var heldGroups: [String] { gate.withLock(\.heldGroups) }

    /// Whether the limit of the lane holds back its operations although the queue itself has room.
    package func holds(lane: GateLane.Name) -> Bool { gate.withLock { $0.isOpen && $0.isFull(lane) } }

    // MARK: - Spare slots

    /// The number of slots that no operation occupies; 0 if operations wait for a slot. While the queue is paused, its
    /// waiting operations do not count.
    package var spare: Int { gate.withLock { $0.spare } }

    /// Calls `body` once, as soon as this many slots are spare, possibly before `whenSpare` returns. Replaces a pending
    /// call for the same `user`.
    package func whenSpare(_ places: Int, for user: String, _ body: @escaping @Sendable () -> Void) {
        let calls = gate.withLock { gate in
            gate.spareCalls[user] = (places, body)
            return gate.takeSpareCalls()
        }
        for call in calls { call() }
    }

    // MARK: - Holding back

    /// Pauses the queue. Once the call has returned, no further operation begins. If `reason` is nil, an earlier reason
    /// stays in force. Returns the reason in force.
    @discardableResult
    package func pause(reason: String?) -> String? {
        let (reason, calls) = gate.withLock { gate in
            gate.holds.insert(.paused)
            gate.recall()
            gate.reason = reason ?? gate.reason
            return (gate.reason, gate.takeSpareCalls())
        }
        waitForBeginnings()
        for call in calls { call() }
        return reason
    }

    package func resume() {
        gate.withLock {
            $0.holds.remove(.paused)
            $0.reason = nil
        }
        pump()
    }

    /// Pauses or resumes the queue because of a problem, independently of the user's `pause` and `resume`.
    package func hold(_ hold: Bool) {
        gate.withLock { gate in
            if hold { gate.holds.insert(.trouble) } else { gate.holds.remove(.trouble) }
            gate.recall()
        }
        waitForBeginnings()
        pump()
    }

    /// Stops admission for good. Once the call has returned, no further operation begins.
    package func close() {
        gate.withLock { gate in
            gate.holds.insert(.closed)
            gate.recall()
        }
        waitForBeginnings()
    }

    /// Waits until all operations that are beginning have begun. Does not wait on a thread that is itself beginning an
    /// operation, because that thread would wait for itself.
    private func waitForBeginnings() {
        if gate.withLock({ !$0.beginners.contains(UInt(pthread_self())) }) { beginnings.wait() }
    }

    // MARK: - Limits

    /// The limit that `automatic` returns now, at least 1.
    package var automaticCount: Int { max(1, automatic()) }

    /// Sets the limit. Once the call has returned, no operation begins beyond the new limit. Running operations
    /// continue.
    package func set(_ limit: Int?) {
        let effective = limit ?? automaticCount
        gate.withLock { gate in
            (gate.configured, gate.limit) = (limit, effective)
            gate.recall()
        }
        waitForBeginnings()
        pump()
    }

    package func set(lane limit: Int) {
        gate.withLock { $0.laneLimit = limit }
        pump()
    }

    /// Admits this many operations beyond the limit, to be lent to other nodes. An operation frees its slot once the
    /// fleet has taken it over.
    package func set(beyond: Int) {
        let isNews = gate.withLock { gate in
            defer { gate.beyond = beyond }
            return gate.beyond != beyond
        }
        if isNews { pump() }
    }

    /// Takes the limit from `automatic` again, unless a limit is configured; returns true if the limit has changed.
    package func followAutomatic() -> Bool {
        let automatic = automaticCount
        let isNews = gate.withLock { gate in
            guard gate.configured == nil else { return false }
            defer { gate.limit = automatic }
            return gate.limit != automatic
        }
        pump()
        return isNews
    }

    // MARK: - Called by operations

    /// Hands the operation to Foundation, which starts it.
    func start(_ operation: AsyncOperation) { operations.addOperation(operation) }

    /// Called when Foundation has started the operation. An admitted operation begins now; any other begins when the
    /// gate admits it.
    func enter(_ operation: AsyncOperation) {
        let isAdmitted = gate.withLock { gate in
            guard gate.enter(operation) else { return false }
            noteBeginning(&gate)
            return true
        }
        if isAdmitted { begin(operation) } else { pump() }
    }

    private func noteBeginning(_ gate: inout Gate) {
        gate.beginners.append(UInt(pthread_self()))
        beginnings.enter()
    }

    private func begin(_ operation: AsyncOperation) {
        operation.begin()
        gate.withLock { gate in
            if let index = gate.beginners.lastIndex(of: UInt(pthread_self())) { gate.beginners.remove(at: index) }
        }
        beginnings.leave()
    }

    func setAside(_ operation: AsyncOperation) { if gate.withLock({ $0.setAside(operation) }) { pump() } }

    func leave(_ operation: AsyncOperation) { if gate.withLock({ $0.leave(operation) }) { pump() } }

    func tell(_ subject: (any Sendable)?, _ state: OperationState) {
        if let subject, let trace = tracer.withLock({ $0 }) { trace(name, subject, state) }
    }

    private func pump() {
        guard gate.withLock({ $0.beginPumping() }) else { return }
        while true {
            let turn = gate.withLock { gate in
                let turn = gate.next()
                if case .begin = turn { noteBeginning(&gate) }
                return turn
            }
            switch turn {
            case .begin(let operation): begin(operation)
            case .over(let calls):
                for call in calls { call() }
                return
            }
        }
    }
}
