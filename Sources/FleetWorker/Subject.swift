/// The subjects of the fleet's messages. The sender's name is a word of the subject. The server keeps other nodes from
/// using that name, so a receiver trusts this word and nothing else.
enum Subject {
    /// A node describes itself to all others.
    static func presence(of node: String) -> String { "nodes.\(node)" }

    /// The same description, sent to a node that is new.
    static func presence(of node: String, to other: String) -> String { "hello.\(other).\(node)" }

    /// The same description, sent to an origin that was told `full`: a place is free now, and is kept for a moment.
    static func room(at node: String, for origin: String) -> String { "room.\(origin).\(node)" }

    /// The origin has pictures, and knows of no free place for them.
    static func waits(at node: String, by origin: String) -> String { "waits.\(node).\(origin)" }

    /// The origin has no picture for the place that was kept.
    static func declined(at node: String, by origin: String) -> String { "declined.\(node).\(origin)" }

    /// An origin asks a node to take a picture.
    static func take(by node: String, of origin: String) -> String { "take.\(node).\(origin)" }

    /// A request to the origin from a node that has taken a picture.
    static func origin(_ origin: String, _ verb: String, by node: String) -> String {
        "origin.\(origin).\(verb).\(node)"
    }

    /// Tells a node that the origin may no longer want a picture, so that the node asks.
    static func unwanted(on node: String, by origin: String) -> String { "unwanted.\(node).\(origin)" }

    /// A node sends a command to another.
    static func command(to node: String, by other: String) -> String { "command.\(node).\(other)" }

    /// The last word of a subject: the sender's name, or a token.
    static func last(of subject: String) -> String { String(subject.split(separator: ".").last ?? "") }
}

/// Identifies a lent picture in the whole fleet. The run is a random word of the origin's process, since the ids start
/// from 1 again when the process restarts.
struct LentKey: Hashable, Sendable {
    var origin: String
    var run: String
    var id: Int
}
