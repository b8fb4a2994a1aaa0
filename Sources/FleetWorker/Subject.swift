/// The subjects of the fleet's messages. Where a node says or asks something, its name is a word of the subject, and the
/// server sees to it that no other node uses it: that word is believed, and nothing else.
enum Subject {
    /// A node says to all what it has.
    static func presence(of node: String) -> String { "nodes.\(node)" }

    /// The same, to a node that is new.
    static func presence(of node: String, to other: String) -> String { "hello.\(other).\(node)" }

    /// The same, to an origin that was told that there is no place: there is one now, and it is kept for a moment.
    static func room(at node: String, for origin: String) -> String { "room.\(origin).\(node)" }

    /// The origin has pictures, and knows of no place for them.
    static func waits(at node: String, by origin: String) -> String { "waits.\(node).\(origin)" }

    /// The origin has nothing for that place.
    static func declined(at node: String, by origin: String) -> String { "declined.\(node).\(origin)" }

    /// An origin asks a node to take a picture.
    static func take(by node: String, of origin: String) -> String { "take.\(node).\(origin)" }

    /// A node that has taken a picture asks its origin.
    static func origin(_ origin: String, _ verb: String, by node: String) -> String {
        "origin.\(origin).\(verb).\(node)"
    }

    /// Said to a node when a picture that it has is not wanted any more: it asks the origin.
    static func unwanted(on node: String, by origin: String) -> String { "unwanted.\(node).\(origin)" }

    /// A node tells another to do something.
    static func command(to node: String, by other: String) -> String { "command.\(node).\(other)" }

    /// The last word of a subject: who says it.
    static func last(of subject: String) -> String { String(subject.split(separator: ".").last ?? "") }
}

/// A lent picture, in the whole fleet. The run is a random word of the origin's process: one that has started again counts
/// from 1 again.
struct LentKey: Hashable, Sendable {
    var origin: String
    var run: String
    var id: Int
}
