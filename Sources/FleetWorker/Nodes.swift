import Foundation
import PipelineModel
import WorkerProtocol

/// The other nodes as they describe themselves, and an estimate of the free places on each.
struct Nodes {
    struct Report: Hashable {
        var node: FleetNode
        var isSilent: Bool
    }

    private struct Heard {
        var node: FleetNode
        /// Identifies the node's process.
        var token: String
        var at = ContinuousClock.now
        /// Estimate of free places: the announced number, less the pictures that the node has taken since.
        var free: Int
        /// The node has not answered an offer. The node gets no further offer until it announces itself again.
        var isMute = false
    }

    private var heard: [String: Heard] = [:]
    /// When this node last heard from another process that uses this node's name.
    private var twin: ContinuousClock.Instant?

    /// A silent node is forgotten after a day.
    private static let memory = Duration.seconds(86400)
    /// Maximum announcements that each node receives per second.
    private static let mostMessages = 25
    /// Maximum number of nodes, more than any fleet has. A stranger who is connected to the server could announce any
    /// number of nodes.
    private static let most = 10_000
    private static let longest = 64 << 10

    /// A node's description, and whether the node has been silent lately.
    subscript(name: String) -> Report? { heard[name].map { Report(node: $0.node, isSilent: !isPresent($0)) } }

    var names: [String] { Array(heard.keys) }

    var hasTwin: Bool { twin.map { $0 + patience > .now } ?? false }

    /// The interval of a node's announcements; it grows with the number of nodes.
    var pause: Duration { max(.seconds(2), .seconds(heard.count) / Self.mostMessages) }
    /// How long a node may be silent before it counts as gone.
    private var patience: Duration { max(.seconds(10), pause * 3) }

    private func isPresent(_ one: Heard) -> Bool { one.at + patience > .now }

    /// Records an announcement. Returns whether the node is new, was gone, or has restarted.
    mutating func hear(_ presence: Presence, own name: String) -> Bool {
        let node = presence.node
        guard node.name != name else {
            twin = .now
            return false
        }
        let before = heard[node.name]
        let isNew = before.map { !isPresent($0) || $0.token != presence.token } ?? true
        if before == nil, heard.count >= Self.most { return false }
        heard[node.name] = Heard(node: node, token: presence.token, free: max(0, node.places - node.taken))
        return isNew
    }

    mutating func forget() { heard = heard.filter { $0.value.at + Self.memory > .now } }

    // MARK: - Places

    /// Chooses a random node that has room for the picture, weighted by free places. The random choice keeps several
    /// origins from asking the same node.
    func choose(for picture: LentPicture, of version: String, where mayBe: (String) -> Bool) -> String? {
        var able: [(name: String, upTo: Int)] = []
        for (name, one) in heard
        where one.free > 0 && isAble(one, picture, version) && !one.isMute && mayBe(name) {
            able.append((name, (able.last?.upTo ?? 0) + one.free))
        }
        guard let sum = able.last?.upTo else { return nil }
        let chosen = Int.random(in: 0..<sum)
        return able.first { chosen < $0.upTo }?.name
    }

    /// Chooses a random node that could render the picture but, according to the estimate, has no free place.
    func chooseFull(for picture: LentPicture, of version: String, where mayBe: (String) -> Bool) -> String? {
        heard.filter { name, one in
            one.free == 0 && one.node.places > 0 && isAble(one, picture, version) && !one.isMute && mayBe(name)
        }.randomElement()?.key
    }

    /// Maximum number of full nodes that get the message `waits` from this origin in one round: a tenth of all full
    /// nodes. A round takes half a second, and a node remembers the message for 5 seconds. So most full nodes have the
    /// origin in their queue.
    var mostNotified: Int { max(1, heard.values.count { $0.free == 0 && $0.node.places > 0 && isPresent($0) } / 10) }

    func hasRoom(for picture: LentPicture, of version: String, without others: Set<String>) -> Bool {
        heard.contains { $1.free > 0 && isAble($1, picture, version) && !others.contains($0) }
    }

    private func isAble(_ one: Heard, _ picture: LentPicture, _ version: String) -> Bool {
        isPresent(one) && one.node.equals(version, picture.filters)
    }

    mutating func takesOne(_ name: String) { change(name, by: -1) }
    mutating func freesOne(_ name: String) { change(name, by: 1) }

    private mutating func change(_ name: String, by count: Int) {
        guard let one = heard[name] else { return }
        heard[name]?.free = min(max(0, one.free + count), one.node.places)
    }

    mutating func hasNoPlace(_ name: String) { heard[name]?.free = 0 }

    /// Records that the node has not answered an offer that was made at the time `asked`.
    mutating func isMute(_ name: String, since asked: ContinuousClock.Instant) {
        if let one = heard[name], one.at < asked { heard[name]?.isMute = true }
    }

    // MARK: - Messages

    /// Decodes an announcement. Returns nil if the message is implausible.
    static func presence(in message: LineMessage) -> Presence? {
        guard message.withBytes(\.count) <= longest, let presence = message.decoded(Presence.self),
            presence.node.name == Subject.last(of: message.subject), MessageCheck.accepts(presence.node)
        else { return nil }
        return presence
    }
}
