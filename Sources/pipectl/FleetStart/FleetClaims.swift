import FoundationEssentials

/// The claims in a token that the authority signs, in NATS's format: the account of all nodes, or the permissions of a
/// node.
struct FleetClaims: Encodable {
    struct Details: Encodable {
        var type: String
        let version = 2
        var limits: [String: Int]?
        /// Removal times of removed nodes, by public key. The servers reject credentials issued up to that time.
        var revocations: [String: Int]?
        var pub: Subjects?
        var sub: Subjects?
        var resp: Answers?
        // NATS denies everything to a user whose claims lack these limits.
        var subs: Int?
        var data: Int?
        var payload: Int?
    }

    struct Subjects: Encodable {
        var allow: [String]
    }

    /// Limits for the replies to a request: their maximum number, and the time allowed for them, in nanoseconds.
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

    // MARK: - Permissions of a node

    /// Subjects to which the node may publish. All of them end in the node's name.
    static func published(by node: String) -> [String] {
        ["nodes.\(node)", "origin.*.*.\(node)"] + toOne.map { "\($0).*.\(node)" }
    }

    static func heard(by node: String) -> [String] {
        ["nodes.*", "origin.\(node).*.*", "_INBOX.\(node).>"] + toOne.map { "\($0).\(node).*" }
    }

    /// First words of the subjects `WORD.RECEIVER.SENDER`.
    private static let toOne = ["hello", "room", "waits", "declined", "take", "unwanted", "command"]
}
