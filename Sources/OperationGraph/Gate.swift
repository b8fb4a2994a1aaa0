/// Decides which operation of a `GatedQueue` begins next. The queue's lock guards all calls.
struct Gate {
    /// A reason why the gate admits no operation.
    enum Hold {
        case paused, trouble, closed
    }

    /// The next step of the thread that admits operations.
    enum Turn {
        case begin(AsyncOperation)
        /// No further operation may begin. The thread must make these calls, which were pending until enough slots were
        /// spare.
        case over(calls: [@Sendable () -> Void])
    }

    /// A group of lanes, and the turns that it has received.
    private struct Group {
        /// The turns that the group has received, divided by its share.
        var turns: Double
        var lanes = 0
    }

    /// The configured limit; nil if the queue's `automatic` decides.
    var configured: Int?
    /// The limit in force. Below 1, the gate admits no operation. (Foundation's own limit would trap below -1.)
    var limit: Int
    /// Extra admissions beyond the limit, for operations that will be lent to other nodes.
    var beyond = 0
    var laneLimit = Int.max
    var holds: Set<Hold> = []
    var reason: String?
    /// Calls to make once enough slots are spare, keyed by the requester's name.
    var spareCalls: [String: (places: Int, body: @Sendable () -> Void)] = [:]
    private(set) var running = 0
    private var lanes: [GateLane.Name: GateLane] = [:]
    private var groups: [String: Group] = [:]
    /// The highest `turns` that a served group had before its turn. A new group starts with this value, so that it
    /// neither waits for older groups nor gets extra turns to catch up.
    private var present = 0.0
    /// Number of operations admitted so far.
    private var turns = 0
    /// Whether a thread is admitting operations. Only one thread does so at a time, so that operations begin in order.
    private var isPumping = false
    /// Admitted operations that Foundation has not started yet, in the order of their admission.
    private var admitted: [AsyncOperation] = []
    /// The threads on which an operation is beginning now.
    var beginners: [UInt] = []

    init(configured: Int?, limit: Int) {
        (self.configured, self.limit) = (configured, limit)
    }

    mutating func lineUp(_ operation: AsyncOperation, isStarted: Bool) {
        operation.ticket.standing = .waiting(isStarted: isStarted)
        let name = operation.ticket.lane
        if lanes[name] == nil {
            lanes[name] = GateLane()
            groups[name.group, default: Group(turns: present)].lanes += 1
        }
        lanes[name]?.add(operation)
    }

    /// Records that Foundation has started the operation. Returns true if the operation had been admitted already. In
    /// that case, the caller must begin the operation now.
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

    /// The number of slots that no operation occupies. It is 0 if the gate is closed, or if operations wait for a slot.
    /// Operations that wait because the limit is below 1, or because of another hold, do not count. If the limit is
    /// below 1, one slot is spare while no operation runs.
    var spare: Int {
        guard !holds.contains(.closed) else { return 0 }
        let isWanted = holds.isEmpty && limit > 0 && lanes.values.contains { !$0.waiting.isEmpty }
        return isWanted ? 0 : max(0, max(1, limit) - running)
    }

    /// Removes and returns the calls for which enough slots are spare now.
    mutating func takeSpareCalls() -> [@Sendable () -> Void] {
        guard !spareCalls.isEmpty else { return [] }
        let ready = spareCalls.filter { $0.value.places <= spare }
        for name in ready.keys { spareCalls[name] = nil }
        return ready.values.map(\.body)
    }

    /// Returns true if the caller must admit operations; false if another thread is doing so.
    mutating func beginPumping() -> Bool {
        defer { isPumping = true }
        return !isPumping
    }

    /// Returns the next step of the thread that admits operations. After `over`, another thread may start to admit
    /// operations.
    mutating func next() -> Turn {
        while isOpen, let lane = nextLane, let operation = lanes[lane]?.takeFirst() {
            defer { sweep(lane) }
            // The operation was cancelled while it waited.
            guard !operation.state.isFinal else {
                operation.ticket.standing = .gone
                continue
            }
            turns += 1
            running += 1
            lanes[lane]?.running += 1
            lanes[lane]?.served = turns
            serve(lane)
            let isStarted = operation.ticket.standing == .waiting(isStarted: true)
            operation.ticket.standing = isStarted ? .running : .admitted
            if isStarted { return .begin(operation) }
            admitted.append(operation)
        }
        isPumping = false
        return .over(calls: takeSpareCalls())
    }

    /// Revokes admissions, latest first, until the gate's limit and holds allow all admissions that remain. Affects
    /// only operations that Foundation has not started; these operations wait again.
    mutating func recall() {
        while !holds.isEmpty || running > max(0, limit) + beyond, let operation = admitted.popLast() {
            free(operation)
            lineUp(operation, isStarted: false)
        }
    }

    /// The groups with operations that wait only because their lane is full.
    var heldGroups: [String] {
        isOpen ? lanes.keys.filter { isFull($0) && lanes[$0]?.waiting.isEmpty == false }.map(\.group).sorted() : []
    }

    func isFull(_ lane: GateLane.Name) -> Bool { lanes[lane].map { $0.running >= laneLimit } ?? false }

    var isOpen: Bool { holds.isEmpty && limit > 0 && running < limit + beyond }

    /// The lane from which the gate admits the next operation.
    private var nextLane: GateLane.Name? {
        let ready = lanes.lazy.filter { [laneLimit] in !$0.value.waiting.isEmpty && $0.value.running < laneLimit }
        return ready.min { $0.value.precedes($1.value, turns(of: $0.key), turns(of: $1.key)) }?.key
    }

    private func turns(of lane: GateLane.Name) -> Double { groups[lane.group]?.turns ?? present }

    /// Counts a turn of the lane's group. A group that had to wait, for example behind a higher priority, catches up by
    /// at most one turn.
    private mutating func serve(_ lane: GateLane.Name) {
        let received = turns(of: lane)
        present = max(present, received)
        groups[lane.group]?.turns = max(received, present - 1) + 1 / Double(lane.share)
    }

    /// Frees the slot of an operation that hangs, or that the fleet executes. Returns false if the operation was not
    /// running.
    mutating func setAside(_ operation: AsyncOperation) -> Bool {
        guard operation.ticket.standing == .running else { return false }
        operation.ticket.standing = .aside
        free(operation)
        return true
    }

    /// Removes a finished operation; returns true if its slot becomes free.
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

    private mutating func sweep(_ lane: GateLane.Name) {
        guard lanes[lane]?.isEmpty == true else { return }
        lanes[lane] = nil
        groups[lane.group]?.lanes -= 1
        if groups[lane.group]?.lanes == 0 { groups[lane.group] = nil }
    }
}
