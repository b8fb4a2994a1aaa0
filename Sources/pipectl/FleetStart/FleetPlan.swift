import PipelineModel

/// The servers and the nodes of a fleet.
struct FleetPlan {
    let servers: [FleetServer]
    private(set) var nodes: [String]
    /// Their certificates are still good: who had one would come in again under the same name.
    private var removed: [String] = []

    /// Each is a list with commas.
    init(servers: String, nodes: String) throws(Failure) {
        var all: [FleetServer] = []
        for text in Self.words(servers) { all.append(try FleetServer(text)) }
        try self.init(all, nodes: Self.words(nodes))
    }

    init(_ servers: [FleetServer], nodes: [String]) throws(Failure) {
        (self.servers, self.nodes) = (servers, nodes)
        if let twice = Self.twice(servers) { throw .usage("the server \(twice.address) is named twice") }
        guard !servers.isEmpty else { throw .usage("init wants a server, such as fleet.example.org") }
        for node in nodes { try Self.check(node) }
        if let twice = Self.twice(nodes) { throw .usage("the node \(twice) is named twice") }
        guard !nodes.isEmpty else { throw .usage("a fleet wants nodes, such as darkroom,attic") }
    }

    mutating func add(_ node: String) throws(Failure) {
        try Self.check(node)
        guard !nodes.contains(node) else { throw .usage("\(node) is a node of this fleet already") }
        guard !removed.contains(node) else {
            throw .usage(
                "\(node) was removed from this fleet, and whoever has its old certificate would come in again\n"
                    + "give the node another name")
        }
        nodes.append(node)
    }

    mutating func remove(_ node: String) throws(Failure) {
        guard nodes.contains(node) else {
            throw .usage("there is no node '\(node)' in this fleet\(didYouMean(node, among: nodes))")
        }
        guard nodes.count > 1 else { throw .usage("\(node) is the only node of this fleet; stop the servers instead") }
        nodes.removeAll { $0 == node }
        removed.append(node)
    }

    /// The folder of a server: its host, with the port where several servers share a host.
    func folder(of server: FleetServer) -> String {
        let isAlone = servers.filter { $0.host == server.host }.count == 1
        return isAlone ? server.host : "\(server.host)-\(server.port)"
    }

    private static func check(_ node: String) throws(Failure) {
        guard NodeName.isOne(node) else {
            throw .usage("'\(node)' is no name of a node: write up to 40 small letters, digits and hyphens")
        }
    }

    private static func words(_ list: String) -> [String] {
        list.split(separator: ",").map { String($0.drop { $0 == " " }) }
    }

    private static func twice<Element: Hashable>(_ all: [Element]) -> Element? {
        var seen: Set<Element> = []
        return all.first { !seen.insert($0).inserted }
    }
}

/// It is kept among the fleet's files, for those who add a node later.
extension FleetPlan: Codable {
    private enum CodingKeys: CodingKey {
        case servers, nodes, removed
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        var servers: [FleetServer] = []
        for address in try container.decode([String].self, forKey: .servers) {
            servers.append(try FleetServer(String(address.dropFirst("tls://".count))))
        }
        try self.init(servers, nodes: container.decode([String].self, forKey: .nodes))
        removed = try container.decode([String].self, forKey: .removed)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(servers.map(\.address), forKey: .servers)
        try container.encode(nodes, forKey: .nodes)
        try container.encode(removed, forKey: .removed)
    }
}
