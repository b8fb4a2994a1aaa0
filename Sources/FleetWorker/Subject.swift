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
            NodeName.isValid(words[2])
        else { return nil }
        let parts = words[3].split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, NodeName.isToken(parts[0]), let id = Int(parts[1]) else { return nil }
        self.init(origin: String(words[2]), run: String(parts[0]), id: id)
    }
}

enum NodeName {
    static func isValid(_ name: some StringProtocol) -> Bool {
        (1...40).contains(name.utf8.count) && name.utf8.allSatisfy { isSmall($0) || $0 == UInt8(ascii: "-") }
    }

    /// A random word.
    static func isToken(_ word: some StringProtocol) -> Bool { word.utf8.count == 16 && word.utf8.allSatisfy(isSmall) }

    static func token() -> String {
        let text = String(UInt64.random(in: .min ... .max), radix: 16)
        return String(repeating: "0", count: 16 - text.utf8.count) + text
    }

    private static func isSmall(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}
