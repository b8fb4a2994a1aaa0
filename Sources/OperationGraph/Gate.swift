/// Decides which operation begins next. It lives behind the lock of its `GatedQueue`.
struct Gate {
    /// Why the gate lets nothing in.
    enum Hold {
        case paused, trouble, closed
    }

    /// A step of the thread that lets operations in.
    enum Turn {
        case begin(AsyncOperation)
        /// No operation may begin. If there are calls, enough places are spare for them, and the thread makes them now.
        case over(calls: [@Sendable () -> Void])
    }

    /// The configured limit; nil follows the queue's `automatic`.
    var configured: Int?
    /// The limit in force. Less than 1 lets nothing in; Foundation's own limit traps below -1.
    var limit: Int
    /// Extra admissions beyond the limit, for operations that find a place elsewhere.
    var beyond = 0
    var laneLimit = Int.max
    var holds: Set<Hold> = []
    var reason: String?
    /// Calls to make when places are spare, keyed by user.
    var spareCalls: [String: (places: Int, body: @Sendable () -> Void)] = [:]
    private(set) var running = 0
    private var lanes: [String: GateLane] = [:]
    /// Number of operations let in so far.
    private var turns = 0
    /// A thread is letting operations in. Only one thread does so at a time, which keeps the order of the turns.
    private var isPumping = false
    /// Operations let in before Foundation has started them, in order.
    private var admitted: [AsyncOperation] = []
    /// The threads on which an operation is beginning now.
    var beginners: [UInt] = []

    init(configured: Int?, limit: Int) {
        (self.configured, self.limit) = (configured, limit)
    }

    mutating func lineUp(_ operation: AsyncOperation, isStarted: Bool) {
        operation.ticket.standing = .waiting(isStarted: isStarted)
        lanes[operation.ticket.lane, default: GateLane()].add(operation)
    }

    /// Notes that Foundation has started the operation. Returns true if it was let in before, and begins now.
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

    /// Places that no operation has or waits for. Operations that are held back need no place. A gate whose limit lets
    /// nothing in has one spare place while nothing runs.
    var spare: Int {
        guard !holds.contains(.closed) else { return 0 }
        let isWanted = holds.isEmpty && limit > 0 && lanes.values.contains { !$0.waiting.isEmpty }
        return isWanted ? 0 : max(0, max(1, limit) - running)
    }

    /// Removes and returns the calls for which enough places are spare now.
    mutating func takeSpareCalls() -> [@Sendable () -> Void] {
        guard !spareCalls.isEmpty else { return [] }
        let ready = spareCalls.filter { $0.value.places <= spare }
        for name in ready.keys { spareCalls[name] = nil }
        return ready.values.map(\.body)
    }

    /// Whether the caller should let operations in; false if another thread is doing so.
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

    /// Returns admitted operations to the line, latest first, while the gate would not let them in now.
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

    /// Frees the place of an operation that hangs or goes on elsewhere; false if it was not running.
    mutating func setAside(_ operation: AsyncOperation) -> Bool {
        guard operation.ticket.standing == .running else { return false }
        operation.ticket.standing = .aside
        free(operation)
        return true
    }

    /// Removes an operation that has ended; returns true if that frees a place.
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
