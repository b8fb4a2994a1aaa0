/// The origins that were told that there is no place, in the order in which they came. Each free place is theirs in turn, so
/// that no origin gets all of them only because it asks first.
struct WaitingLine {
    typealias Instant = ContinuousClock.Instant

    private var waiting: [(origin: String, at: Instant)] = []
    /// The origins that were told of a free place, and the time until which the place is kept.
    private var invited: [String: Instant] = [:]

    /// An origin that has not asked for so long has found another node, or has nothing more to lend.
    static let patience = Duration.seconds(5)
    static let time = Duration.seconds(1)
    /// Far more than anybody has: a stranger at the server may invent any number.
    private static let longest = 1000

    /// Returns whether an origin that asks now gets one of the free places. Every origin that waits, invited or not, goes before it.
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

    /// An origin has found another place.
    mutating func declines(_ origin: String) {
        invited[origin] = nil
        waiting.removeAll { $0.origin == origin }
    }

    /// Keeps the free places for those who wait; returns them.
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
