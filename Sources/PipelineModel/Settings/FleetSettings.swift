/// Settings of the fleet, the machines that lend each other pictures to render. Without `servers`, the fleet is off.
public struct FleetSettings: Sendable, Hashable {
    /// When this node lends its pictures to other nodes.
    public enum Give: String, Sendable, CaseIterable {
        /// Lend when no local slot is free, and rendering takes much longer than transferring.
        case auto
        /// Lend when no local slot is free.
        case always
        case never
    }

    public enum Obey: String, Sendable, CaseIterable {
        case yes, no
    }

    public var servers: [String]?
    public var credentials: String?
    public var authority: String?
    /// This node's name in the fleet; nil to use the machine's host name.
    public var name: String?
    public var places = QueueLimit.auto
    public var give = Give.auto
    public var ahead = QueueLimit.auto
    public var takeBack = Duration.seconds(120)
    /// Whether other nodes may pause this node, drain it, set its limits and cancel all its jobs.
    public var obey = Obey.yes

    public init() {}

    static let table: [Setting<FleetSettings>] = [
        Setting(
            "Fleet", "Servers", \.servers, .servers,
            "the NATS servers of the fleet; default: no fleet"),
        Setting(
            "Fleet", "Credentials", \.credentials, .file,
            "the file with this node's NATS credentials, which only the daemon's user or root can read; required unless "
                + "the servers are on this machine"),
        Setting("Fleet", "Authority", \.authority, .file, "the certificate of the authority that signed the servers'"),
        Setting("Fleet", "Name", \.name, .node, "this node's name in the fleet; default: the machine's name"),
        Setting(
            "Fleet", "Places", \.places, .limit,
            "maximum pictures of other nodes on this node; auto: as many as Render=; 0: none"),
        Setting(
            "Fleet", "Give", \.give, .word,
            "auto: lend a picture if no slot is free here, and rendering takes much longer than the transfer; always: "
                + "lend if no slot is free here; never"),
        Setting(
            "Fleet", "Ahead", \.ahead, .limit,
            "maximum pictures lent at once; auto: as many as the other nodes have places, plus one for each node"
        ),
        Setting(
            "Fleet", "TakeBack", \.takeBack, .duration(.seconds(1) ... .seconds(86400)),
            "how long all servers may be unreachable before lent pictures are rendered here"),
        Setting(
            "Fleet", "Obey", \.obey, .word,
            "whether other nodes may pause this one, drain it, set its limits and cancel all its jobs"),
    ]

    public var isOn: Bool { servers?.isEmpty == false }

    /// The files that authenticate this node and the fleet's servers.
    public var files: [(key: String, path: String)] {
        [("Credentials", credentials), ("Authority", authority)].compactMap { key, path in path.map { (key, $0) } }
    }

    /// Why these settings can't be used together, or nil.
    var contradiction: String? {
        let missing = [("Credentials", credentials), ("Authority", authority)].filter { $0.1 == nil }
        guard isOn, !missing.isEmpty else { return nil }
        let keys = missing.map { "\($0.0)=" }.joined(separator: " and ")
        if missing.count < 2 { return "has no \(keys); the two belong together" }
        guard let far = servers?.first(where: { !FleetServer.isHere($0) }) else { return nil }
        return "has no \(keys), without which anybody on the way to \(far) could read and change pictures"
    }
}

/// Parses the address of a server in a setting.
enum FleetServer {
    /// The host of `nats://host:port` or `tls://host:port`; nil for anything else.
    static func host(of address: String) -> String? {
        guard let scheme = ["nats://", "tls://"].first(where: address.hasPrefix) else { return nil }
        let rest = address.dropFirst(scheme.count)
        guard let colon = rest.lastIndex(of: ":"), let port = Int(rest[rest.index(after: colon)...]),
            (1...65535).contains(port)
        else { return nil }
        let isBracketed = rest.first == "[" && rest[..<colon].last == "]"
        let host = isBracketed ? rest[..<colon].dropFirst().dropLast() : rest[..<colon]
        let marks = isBracketed ? ":." : "-._"
        let isHost = host.utf8.allSatisfy { $0.isLetterOrDigit || marks.utf8.contains($0) }
        return isHost && !host.isEmpty ? String(host) : nil
    }

    /// Whether the server is on this machine, so that its traffic does not cross the network.
    static func isHere(_ address: String) -> Bool {
        guard let host = host(of: address) else { return false }
        return host == "localhost" || host == "::1" || (host.hasPrefix("127.") && host.utf8.allSatisfy { $0 < 0x3a })
    }
}

extension SettingType<[String]?> {
    fileprivate static let servers = Self(values: "nats://host:port …") { text, _ throws(Refusal) in
        let servers = text.split(whereSeparator: \.isWhitespace).map(String.init)
        if let wrong = servers.first(where: { FleetServer.host(of: $0) == nil }) {
            throw Refusal(
                "is not a list of servers (\(wrong))", advice: "write it like tls://fleet.example.org:4222")
        }
        return servers
    } write: {
        ($0 ?? []).joined(separator: " ")
    }
}

extension SettingType<String?> {
    fileprivate static let file = Self(values: "an absolute path") { text, _ throws(Refusal) in
        guard text.isEmpty || text.hasPrefix("/") else {
            throw Refusal("is not an absolute path", advice: "write it like /etc/pipelined/fleet/node.creds")
        }
        return text.isEmpty ? nil : text
    } write: {
        $0 ?? ""
    }

    fileprivate static let node = Self(values: "small letters, digits and hyphens") { text, _ throws(Refusal) in
        guard text.isEmpty || NodeName.isOne(text) else {
            throw Refusal("is not a node's name", advice: "write up to 40 small letters, digits and hyphens")
        }
        return text.isEmpty ? nil : text
    } write: {
        $0 ?? ""
    }
}

/// A node's name in its fleet.
public enum NodeName {
    private static let longest = 40

    public static func isOne(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= longest && text.utf8.allSatisfy(isAllowed)
    }

    /// A node name made from a host name; a hyphen replaces each invalid character.
    public static func made(of host: String) -> String {
        let label = host.lowercased().prefix { $0 != "." }.utf8.prefix(longest)
        let name = String(decoding: label.map { isAllowed($0) ? $0 : UInt8(ascii: "-") }, as: UTF8.self)
        return name.isEmpty ? "node" : name
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        let isUpperCase = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
        return byte.isLetterOrDigit && !isUpperCase || byte == UInt8(ascii: "-")
    }
}
