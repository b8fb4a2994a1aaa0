/// The queue of origins that got the answer `full`, in the order of their requests. They take turns at free places, one
/// picture at a time, so that no origin gets all places just because it asks first.
struct WaitingLine {
    typealias Instant = ContinuousClock.Instant

    private var waiting: [(origin: String, at: Instant)] = []
    /// Invited origins, each with the time until which its place is kept.
    private var invited: [String: Instant] = [:]

    /// An origin that has not asked again within this time leaves the queue. This node assumes that the origin has
    /// found another node, or has nothing more to lend.
    static let patience = Duration.seconds(5)
    /// How long a place is kept for an invited origin.
    static let time = Duration.seconds(1)
    /// Maximum length of the queue, more than the origins of any fleet. A stranger who is connected to the server could
    /// invent any number of origins.
    private static let longest = 1000

    /// Decides whether an origin that asks now gets a free place. If not, the origin joins the queue. Invited origins,
    /// and the origins ahead in the queue, have precedence.
    mutating func admits(_ origin: String, free: Int, at now: Instant = .now) -> Bool {
        forget(now)
        let before = invited.keys.count { $0 != origin } + (invited[origin] == nil ? waitingBefore(origin) : 0)
        guard free > before else {
            add(origin, at: now)
            return false
        }
        declines(origin)
        return true
    }

    private func waitingBefore(_ origin: String) -> Int {
        waiting.firstIndex { $0.origin == origin } ?? waiting.count
    }

    mutating func add(_ origin: String, at now: Instant = .now) {
        if let index = waiting.firstIndex(where: { $0.origin == origin }) {
            waiting[index].at = now
        } else if waiting.count < Self.longest {
            waiting.append((origin, now))
        }
    }

    /// Removes an origin that got a place, or no longer needs a place.
    mutating func declines(_ origin: String) {
        invited[origin] = nil
        waiting.removeAll { $0.origin == origin }
    }

    /// Keeps free places for the next origins in the queue, and returns these origins.
    mutating func invite(_ free: Int, at now: Instant = .now) -> [String] {
        forget(now)
        let next = waiting.prefix(max(0, free - invited.count)).map(\.origin)
        waiting.removeFirst(next.count)
        for origin in next { invited[origin] = now + Self.time }
        return next
    }

    private mutating func forget(_ now: Instant) {
        waiting.removeAll { $0.at + Self.patience < now }
        invited = invited.filter { $0.value > now }
    }
}
