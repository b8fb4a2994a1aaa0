/// The subjects of the fleet's messages. Each subject contains the sender's name, and the server lets no other node use
/// that name. So a receiver identifies the sender by the subject alone.
enum Subject {
    /// Carries a node's description of itself to all other nodes.
    static func presence(of node: String) -> String { "nodes.\(node)" }

    /// Carries a node's description of itself to the node `other` only, which is new.
    static func presence(of node: String, to other: String) -> String { "hello.\(other).\(node)" }

    /// Carries the node's description to an origin that got the answer `full`. The message means that a place has
    /// become free, and that the node keeps the place for this origin for a moment.
    static func room(at node: String, for origin: String) -> String { "room.\(origin).\(node)" }

    /// Tells a node that the origin has pictures to lend, but knows of no free place for them.
    static func waits(at node: String, by origin: String) -> String { "waits.\(node).\(origin)" }

    /// Tells a node that the origin does not need the place that the node kept for the origin.
    static func declined(at node: String, by origin: String) -> String { "declined.\(node).\(origin)" }

    /// Asks a node to take a picture of the origin.
    static func take(by node: String, of origin: String) -> String { "take.\(node).\(origin)" }

    /// Carries a request to the origin from a node that has taken a picture.
    static func origin(_ origin: String, _ verb: String, by node: String) -> String {
        "origin.\(origin).\(verb).\(node)"
    }

    /// Tells a node that the origin may no longer want a picture. The node then asks about every picture that it has
    /// taken.
    static func unwanted(on node: String, by origin: String) -> String { "unwanted.\(node).\(origin)" }

    /// Carries a command from the node `other` to `node`.
    static func command(to node: String, by other: String) -> String { "command.\(node).\(other)" }

    /// The last word of a subject, which is the sender's name or a token.
    static func last(of subject: String) -> String { String(subject.split(separator: ".").last ?? "") }
}

/// Identifies a lent picture in the whole fleet. `run` is a random token of the origin's process, because the ids start
/// from 1 again when the process restarts.
struct LentKey: Hashable, Sendable {
    var origin: String
    var run: String
    var id: Int
}
