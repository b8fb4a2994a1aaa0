package import Dispatch
import Foundation
import Synchronization

/// Foundation's `OperationQueue`, with a gate before each start.
///
/// Foundation starts an operation as soon as its dependencies have finished. The gate decides which operation begins,
/// and when: Foundation's own limit and suspension don't reach an operation whose start is under way. Operations are
/// let in under the lock that `pause` and `set` take, and both wait for operations that are beginning on other threads.
/// Once they return, no operation begins that they hold back.
package final class GatedQueue: Sendable {
    /// Receives each state of each operation, in order, with the operation's subject. It must not call the operation.
    package typealias Trace = @Sendable (_ queue: String, _ subject: any Sendable, _ state: OperationState) -> Void

    package struct Report: Sendable {
        /// Nil if `automatic` decides.
        package var configured: Int?
        package var effective: Int
        package var running: Int
        package var paused: Bool
        package var reason: String?
    }

    package let name: String
    private let automatic: @Sendable () -> Int
    /// Operations begin one by one in the order in which they become ready.
    private let isSerial: Bool
    /// Never add a barrier block: adding a cancelled operation while such a block is pending deadlocks.
    private let operations = OperationQueue()
    private let gate: Mutex<Gate>
    /// Counts the operations that are beginning now.
    private let beginnings = DispatchGroup()
    private let tracer = Mutex<Trace?>(nil)

    /// `limit` is the maximum of running operations; nil follows `automatic`, which counts as at least 1. Foundation
    /// starts operations on `queue`.
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

    /// Operations of one `lane` also share the lane's limit, and lanes take turns. `subject` is for the trace.
    package func add(
        _ operation: AsyncOperation, of subject: (any Sendable)? = nil, at place: QueuePlace = QueuePlace(),
        lane: String = ""
    ) {
        gate.withLock { gate in
            operation.ticket = Ticket(place: place, lane: lane)
            // It lines up before Foundation starts it on any thread: its place decides, not its arrival.
            if !isSerial, operation.dependencies.isEmpty { gate.lineUp(operation, isStarted: false) }
        }
        operation.join(self, subject)
        pump()
    }

    /// Sets the receiver of all changes of state; nil removes it.
    package func trace(_ trace: Trace?) { tracer.withLock { $0 = trace } }

    /// Answers as long as Foundation starts operations, even when the queue is paused or full.
    package func ask(_ answer: @escaping @Sendable () -> Void) { operations.addOperation(answer) }

    package var report: Report {
        gate.withLock {
            Report(
                configured: $0.configured, effective: $0.limit, running: $0.running,
                paused: $0.holds.contains(.paused), reason: $0.reason)
        }
    }

    // MARK: - Places that are spare

    /// Places within the limit that the queue's operations can't use now.
    package var spare: Int { gate.withLock { $0.spare } }

    /// Calls `body` once, when this many places are spare, which may be at once. It replaces a pending call for the
    /// same `user`.
    package func whenSpare(_ places: Int, for user: String, _ body: @escaping @Sendable () -> Void) {
        let calls = gate.withLock { gate in
            gate.spareCalls[user] = (places, body)
            return gate.takeSpareCalls()
        }
        for call in calls { call() }
    }

    // MARK: - Holding back

    /// When this returns, no operation begins any more. Without a reason, the former reason stays. Returns the reason
    /// in force.
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

    /// A second pause, beside the user's, while something is wrong.
    package func hold(_ hold: Bool) {
        gate.withLock { gate in
            if hold { gate.holds.insert(.trouble) } else { gate.holds.remove(.trouble) }
            gate.recall()
        }
        waitForBeginnings()
        pump()
    }

    /// Stops admission for good. When this returns, no operation begins any more.
    package func close() {
        gate.withLock { gate in
            gate.holds.insert(.closed)
            gate.recall()
        }
        waitForBeginnings()
    }

    /// Waits until operations that are about to begin have begun; not on a thread of theirs, which would wait for
    /// itself.
    private func waitForBeginnings() {
        if gate.withLock({ !$0.beginners.contains(UInt(pthread_self())) }) { beginnings.wait() }
    }

    // MARK: - Limits

    /// The limit that `automatic` gives now.
    package var automaticCount: Int { max(1, automatic()) }

    /// When this returns, no operation begins beyond the limit. Running operations go on.
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

    /// Lets this many operations in beyond the limit. Each is set aside when it has found a place elsewhere.
    package func set(beyond: Int) {
        let isNews = gate.withLock { gate in
            defer { gate.beyond = beyond }
            return gate.beyond != beyond
        }
        if isNews { pump() }
    }

    /// Asks `automatic` again; returns true if this has changed the limit.
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

    /// Called when Foundation has started the operation, which begins now, or when its turn comes.
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
