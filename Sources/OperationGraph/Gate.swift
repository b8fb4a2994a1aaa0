/// Decides which operation begins next. It lives behind the lock of its `GatedQueue`.
struct Gate {
    /// Why nothing is let in.
    enum Hold {
        case paused, trouble, closed
    }

    /// A step of the thread that lets operations in.
    enum Turn {
        case begin(AsyncOperation)
        /// No operation may begin. If there are calls, places are spare, and they are to be made now.
        case over(calls: [@Sendable () -> Void])
    }

    /// How many operations may run; nil follows the queue's `automatic`.
    var configured: Int?
    /// The limit in force. Less than 1 lets nothing in; Foundation's own limit traps below -1.
    var limit: Int
    /// As many more are let in; they find no place, and are to go elsewhere.
    var beyond = 0
    var laneLimit = Int.max
    var holds: Set<Hold> = []
    var reason: String?
    /// By those who wait.
    var spareCalls: [String: (places: Int, body: @Sendable () -> Void)] = [:]
    private(set) var running = 0
    private var lanes: [String: GateLane] = [:]
    /// How many operations have been let in, ever.
    private var turns = 0
    /// A thread is letting operations in; one at a time, so that they begin in the order of their turns.
    private var isPumping = false
    /// Operations that were let in before Foundation has started them, in that order.
    private var admitted: [AsyncOperation] = []
    /// The threads on which an operation begins at this moment.
    var beginners: [UInt] = []

    init(configured: Int?, limit: Int) {
        (self.configured, self.limit) = (configured, limit)
    }

    mutating func lineUp(_ operation: AsyncOperation, isStarted: Bool) {
        operation.ticket.standing = .waiting(isStarted: isStarted)
        lanes[operation.ticket.lane, default: GateLane()].add(operation)
    }

    /// Foundation has started the operation; true if it was let in before and begins now.
    mutating func enter(_ operation: AsyncOperation) -> Bool {
        switch operation.ticket.standing {
        case .away: lineUp(operation, isStarted: true)
        case .waiting: operation.ticket.standing = .waiting(isStarted: true)
        case .admitted:
            admitted.removeAll { $0 === operation }
            operation.ticket.standing = .running
            return true
        case .running, .aside, .gone: break
        }
        return false
    }

    /// The places that no operation has, and none waits for. Operations that are held back have no use for a place; a gate
    /// that lets nothing in has one, as long as nothing runs.
    var spare: Int {
        guard !holds.contains(.closed) else { return 0 }
        let isWanted = holds.isEmpty && limit > 0 && lanes.values.contains { !$0.waiting.isEmpty }
        return isWanted ? 0 : max(0, max(1, limit) - running)
    }

    /// The calls that are to be made now, because as many places are spare as they wait for.
    mutating func takeSpareCalls() -> [@Sendable () -> Void] {
        guard !spareCalls.isEmpty else { return [] }
        let ready = spareCalls.filter { $0.value.places <= spare }
        for name in ready.keys { spareCalls[name] = nil }
        return ready.values.map(\.body)
    }

    /// Whether the caller is to let operations in.
    mutating func beginPumping() -> Bool {
        defer { isPumping = true }
        return !isPumping
    }

    /// The caller's next step. After `over` another thread may let operations in.
    mutating func next() -> Turn {
        while isOpen, let lane = nextLane, let operation = lanes[lane]?.takeFirst() {
            defer { sweep(lane) }
            // It was cancelled while it waited.
            guard !operation.state.isFinal else {
                operation.ticket.standing = .gone
                continue
            }
            turns += 1
            running += 1
            lanes[lane]?.running += 1
            lanes[lane]?.served = turns
            let isStarted = operation.ticket.standing == .waiting(isStarted: true)
            operation.ticket.standing = isStarted ? .running : .admitted
            if isStarted { return .begin(operation) }
            admitted.append(operation)
        }
        isPumping = false
        return .over(calls: takeSpareCalls())
    }

    /// Operations that were let in, and have not begun, wait again if the gate would not let them in now: the latest first.
    mutating func recall() {
        while !holds.isEmpty || running > max(0, limit) + beyond, let operation = admitted.popLast() {
            free(operation)
            lineUp(operation, isStarted: false)
        }
    }

    private var isOpen: Bool { holds.isEmpty && limit > 0 && running < limit + beyond }

    /// The lane whose turn it is.
    private var nextLane: String? {
        let ready = lanes.lazy.filter { [laneLimit] in !$0.value.waiting.isEmpty && $0.value.running < laneLimit }
        return ready.min { $0.value.precedes($1.value) }?.key
    }

    /// The operation hangs; true if its place is free now.
    mutating func setAside(_ operation: AsyncOperation) -> Bool {
        guard operation.ticket.standing == .running else { return false }
        operation.ticket.standing = .aside
        free(operation)
        return true
    }

    /// The operation is over; true if its place is free now.
    mutating func leave(_ operation: AsyncOperation) -> Bool {
        let former = operation.ticket.standing
        operation.ticket.standing = .gone
        admitted.removeAll { $0 === operation }
        switch former {
        case .waiting:
            lanes[operation.ticket.lane]?.remove(operation)
            sweep(operation.ticket.lane)
        case .admitted, .running:
            free(operation)
            return true
        case .away, .aside, .gone: break
        }
        return false
    }

    private mutating func free(_ operation: AsyncOperation) {
        running -= 1
        lanes[operation.ticket.lane]?.running -= 1
        sweep(operation.ticket.lane)
    }

    private mutating func sweep(_ lane: String) {
        if lanes[lane]?.isEmpty == true { lanes[lane] = nil }
    }
}
