import FoundationEssentials

/// What the authority signs, as NATS reads it: the account that all nodes have, and what one node may do.
struct FleetClaims: Encodable {
    struct Details: Encodable {
        var type: String
        let version = 2
        var limits: [String: Int]?
        /// Of nodes that were removed: the public key, and the time until which nothing counts that was signed for it.
        var revocations: [String: Int]?
        var pub: Subjects?
        var sub: Subjects?
        var resp: Answers?
        // Without these a user may do nothing.
        var subs: Int?
        var data: Int?
        var payload: Int?
    }

    struct Subjects: Encodable {
        var allow: [String]
    }

    /// How many answers a request may get, and for how many nanoseconds.
    struct Answers: Encodable {
        let max = 1
        let ttl = 120_000_000_000
    }

    let iss: String
    let sub: String
    let name: String
    let iat: Int
    var exp: Int?
    let nats: Details

    static func account(_ key: String, by issuer: String, removed: [String: Int], at now: Int) -> Self {
        let unlimited = ["subs", "data", "payload", "imports", "exports", "conn", "leaf"]
        return Self(
            iss: issuer, sub: key, name: "fleet", iat: now,
            nats: Details(
                type: "account", limits: Dictionary(uniqueKeysWithValues: unlimited.map { ($0, -1) }),
                revocations: removed))
    }

    static func node(_ node: String, _ key: String, by issuer: String, until end: Int?, at now: Int) -> Self {
        Self(
            iss: issuer, sub: key, name: node, iat: now, exp: end,
            nats: Details(
                type: "user", pub: Subjects(allow: published(by: node)), sub: Subjects(allow: heard(by: node)),
                resp: Answers(), subs: -1, data: -1, payload: -1))
    }

    // MARK: - What a node may do

    /// Whatever it says has its name as the last word.
    static func published(by node: String) -> [String] {
        ["nodes.\(node)", "origin.*.*.\(node)"] + toOne.map { "\($0).*.\(node)" }
    }

    static func heard(by node: String) -> [String] {
        ["nodes.*", "origin.\(node).*.*", "_INBOX.\(node).>"] + toOne.map { "\($0).\(node).*" }
    }

    /// The first words of the subjects that have a receiver and a sender.
    private static let toOne = ["hello", "room", "waits", "declined", "take", "unwanted", "command"]
}
