import SystemCalls

/// A NATS server of a fleet: a host or an address, and a port.
struct FleetServer: Hashable {
    let host: String
    let port: Int

    private static let usualPort = 4222
    /// The difference between a server's cluster port and its client port.
    private static let toCluster = 2000

    init(_ text: String) throws(Failure) {
        guard let (host, port) = Self.parts(of: text.lowercased()), (1...65535 - Self.toCluster).contains(port),
            Self.isAddress(host) || Self.isName(host)
        else {
            throw .usage("'\(text)' is not a server: write it like fleet.example.org, 10.1.2.3:4222 or [2001:db8::1]")
        }
        (self.host, self.port) = (host, port)
    }

    /// The server's URL in `Servers=` of a node.
    var address: String { "tls://\(place):\(port)" }
    var clusterPort: Int { port + Self.toCluster }
    /// The server's URL in the configuration of the other servers of its cluster.
    var route: String { "nats-route://\(place):\(clusterPort)" }
    /// The subject alternative name in the server's certificate.
    var subjectName: String { "\(Self.isAddress(host) ? "IP" : "DNS"):\(host)" }

    private var place: String { host.contains(":") ? "[\(host)]" : host }

    private static func parts(of text: String) -> (String, Int)? {
        if text.hasPrefix("[") {
            let parts = text.dropFirst().split(separator: "]", omittingEmptySubsequences: false)
            guard parts.count == 2, parts[0].contains(":") else { return nil }
            if parts[1].isEmpty { return (String(parts[0]), usualPort) }
            return parts[1].first == ":" ? port(parts[1].dropFirst()).map { (String(parts[0]), $0) } : nil
        }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        // Several colons without brackets are an IPv6 address without a port.
        guard parts.count == 2 else { return (text, usualPort) }
        return port(parts[1]).map { (String(parts[0]), $0) }
    }

    private static func port(_ text: Substring) -> Int? { text.utf8.allSatisfy(isDigit) ? Int(text) : nil }

    private static func isAddress(_ host: String) -> Bool {
        host != "localhost" && InternetAddress(host.contains(":") ? "[\(host)]:1" : "\(host):1") != nil
    }

    /// Whether the host is a DNS name. A host whose last label is a number would look like an address, and is refused.
    private static func isName(_ host: String) -> Bool {
        let labels = host.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        let hyphen = UInt8(ascii: "-")
        func isLabel(_ label: Substring.UTF8View) -> Bool {
            (1...63).contains(label.count) && label.first != hyphen && label.last != hyphen
                && label.allSatisfy { isDigit($0) || $0 == hyphen || (97...122).contains($0) }
        }
        return host.utf8.count <= 253 && labels.allSatisfy(isLabel) && labels.last?.allSatisfy(isDigit) == false
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (48...57).contains(byte) }
}
