import PipelineModel

/// The subjects of the fleet's messages.
enum Subject {
    static let stream = "JOBS"
    /// What the stream keeps.
    static let jobs = "jobs.>"
    /// Said after a picture has been lent: nodes with room look.
    static let wake = "wake"

    static func jobs(_ priority: Priority) -> String { "jobs.\(priority.rawValue).>" }

    static func jobs(of origin: String) -> String { "jobs.*.\(origin).>" }

    static func job(_ key: LentKey, _ priority: Priority) -> String {
        "jobs.\(priority.rawValue).\(key.origin).\(key.run)-\(key.id)"
    }

    /// Said to a node when a picture that it has is not wanted any more: it asks the origin.
    static func unwanted(on node: String) -> String { "unwanted.\(node)" }

    static func presence(of node: String) -> String { "nodes.\(node)" }

    static func origin(_ origin: String, _ verb: String) -> String { "origin.\(origin).\(verb)" }

    /// A node tells another to do something. The server sees to it that a node names itself as the last.
    static func command(to node: String, by other: String) -> String { "command.\(node).\(other)" }

    /// The last word of a subject.
    static func last(of subject: String) -> String { String(subject.split(separator: ".").last ?? "") }
}

/// A lent picture, in the whole fleet. The run is a random word of the origin's process: one that has started again counts
/// from 1 again.
struct LentKey: Hashable, Sendable {
    var origin: String
    var run: String
    var id: Int

    init(origin: String, run: String, id: Int) { (self.origin, self.run, self.id) = (origin, run, id) }

    /// Nil for a subject that names no picture.
    init?(subject: String) {
        let words = subject.split(separator: ".", omittingEmptySubsequences: false)
        guard words.count == 4, words[0] == "jobs", Priority(rawValue: String(words[1])) != nil,
            NodeName.isOne(String(words[2]))
        else { return nil }
        let parts = words[3].split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, Token.isOne(parts[0]), let id = Int(parts[1]) else { return nil }
        self.init(origin: String(words[2]), run: String(parts[0]), id: id)
    }
}
