import Foundation
import WorkerProtocol

/// The other nodes that have been heard of lately.
struct Nodes {
    private var heard: [String: (node: FleetState.Node, at: ContinuousClock.Instant)] = [:]
    /// When another process of this node's name was heard of last.
    private var twin: ContinuousClock.Instant?

    /// A node that has been silent for so long is gone, and is forgotten after a day.
    private static let patience = Duration.seconds(10)
    private static let memory = Duration.seconds(86400)
    /// A message to the supervisor has room for so many.
    private static let most = 64
    private static let longest = 4096

    var all: [FleetState.Node] {
        var room = 64 << 10
        return heard.values.filter(Self.isPresent).map(\.node).sorted { $0.name < $1.name }.map { node in
            var node = node
            room -= node.filters.reduce(200) { $0 + $1.utf8.count + 4 }
            if room < 0 { node.filters = [] }
            return node
        }
    }

    /// The names of nodes that were here and are not heard of now. Without a connection nobody is.
    func silent(isConnected: Bool) -> [String] {
        heard.values.filter { !isConnected || !Self.isPresent($0) }.map(\.node.name).sorted()
    }

    private static func isPresent(_ entry: (node: FleetState.Node, at: ContinuousClock.Instant)) -> Bool {
        entry.at + patience > .now
    }

    var hasTwin: Bool { twin.map { $0 + Self.patience > .now } ?? false }

    mutating func hear(_ presence: Presence, own name: String) {
        guard presence.node.name != name else { return twin = .now }
        if heard[presence.node.name] == nil, heard.count >= Self.most {
            guard let silent = heard.first(where: { !Self.isPresent($0.value) }) else { return }
            heard[silent.key] = nil
        }
        heard[presence.node.name] = (presence.node, .now)
    }

    mutating func forget() { heard = heard.filter { $0.value.at + Self.memory > .now } }

    /// Nil for what is not plausible.
    static func presence(in message: LineMessage) -> Presence? {
        guard message.withBytes(\.count) <= longest, let presence = message.decoded(Presence.self),
            presence.node.name == Subject.last(of: message.subject), Stranger.accepts(presence.node)
        else { return nil }
        return presence
    }

    static func say(_ presence: Presence, on line: Line) {
        guard var bytes = try? JSONEncoder().encode(presence) else { return }
        if bytes.count > longest {
            var short = presence
            short.node.filters = []
            bytes = (try? JSONEncoder().encode(short)) ?? bytes
        }
        try? line.publish(Array(bytes), to: Subject.presence(of: presence.node.name))
    }
}
