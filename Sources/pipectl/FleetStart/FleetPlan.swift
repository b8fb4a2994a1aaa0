import PipelineModel

/// The servers and nodes of a fleet. The fleet's folder keeps the plan for later changes.
struct FleetPlan {
    struct Node: Codable {
        let name: String
        let key: String
        /// When the node's credentials expire, in seconds since 1970; nil for never.
        var until: Int?
    }

    let servers: [FleetServer]
    private(set) var nodes: [Node] = []
    /// Removal times by public key. Without them, the credentials of removed nodes would stay valid.
    private(set) var removed: [String: Int] = [:]

    /// - Parameter list: the servers, separated by commas
    init(servers list: String) throws(Failure) {
        var all: [FleetServer] = []
        for text in Self.words(list) { all.append(try FleetServer(text)) }
        if let twice = Self.twice(all) { throw .usage("the server \(twice.address) is named twice") }
        guard !all.isEmpty else { throw .usage("init needs a server, such as fleet.example.org") }
        servers = all
    }

    /// Parses and checks a comma-separated list of node names.
    static func names(_ list: String) throws(Failure) -> [String] {
        let names = words(list)
        for name in names where !NodeName.isOne(name) {
            throw .usage("'\(name)' is not a node's name: write up to 40 small letters, digits and hyphens")
        }
        if let twice = twice(names) { throw .usage("the node \(twice) is named twice") }
        guard !names.isEmpty else { throw .usage("a fleet needs nodes, such as darkroom,attic") }
        return names
    }

    /// Throws if the fleet has an unexpired node of this name.
    func checkFree(_ name: String, at now: Int) throws(Failure) {
        guard let node = nodes.first(where: { $0.name == name }), node.until.map({ $0 > now }) ?? true else { return }
        throw .usage("\(name) is a node of this fleet already; `pipectl fleet remove \(name)` removes it")
    }

    mutating func add(_ node: Node) {
        nodes.removeAll { $0.name == node.name }
        nodes.append(node)
    }

    mutating func remove(_ name: String, at now: Int) throws(Failure) {
        guard let index = nodes.firstIndex(where: { $0.name == name }) else {
            throw .usage("there is no node '\(name)' in this fleet\(didYouMean(name, among: nodes.map(\.name)))")
        }
        removed[nodes.remove(at: index).key] = now
    }

    /// The name of a server's folder: its host, followed by its port if other servers have the same host.
    func folder(of server: FleetServer) -> String {
        let isAlone = servers.filter { $0.host == server.host }.count == 1
        return isAlone ? server.host : "\(server.host)-\(server.port)"
    }

    private static func words(_ list: String) -> [String] {
        list.split(separator: ",").map { String($0.drop { $0 == " " }) }
    }

    private static func twice<Element: Hashable>(_ all: [Element]) -> Element? {
        var seen: Set<Element> = []
        return all.first { !seen.insert($0).inserted }
    }
}

extension FleetPlan: Codable {
    private enum CodingKeys: CodingKey {
        case servers, nodes, removed
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let addresses = try container.decode([String].self, forKey: .servers)
        try self.init(servers: addresses.map { String($0.dropFirst("tls://".count)) }.joined(separator: ","))
        nodes = try container.decode([Node].self, forKey: .nodes)
        removed = try container.decode([String: Int].self, forKey: .removed)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(servers.map(\.address), forKey: .servers)
        try container.encode(nodes, forKey: .nodes)
        try container.encode(removed, forKey: .removed)
    }
}
