/// Refuses requests from other sites, for unknown hosts, or without a login. Every request passes this check first.
struct Guard: Sendable {
    /// The host names by which browsers may address this server. A request with any other name may come from a foreign
    /// site that tries to read our page (DNS rebinding).
    var hosts: Set<String> = Self.loopback
    /// The login, if the server listens at a port. Nil at a Unix socket, which is protected by its mode and group.
    var door: Door?

    static let loopback: Set<String> = ["localhost", "127.0.0.1", "::1"]

    /// The answer that refuses a request from another site's page or for an unknown host; nil for a good request.
    func refusal(_ request: HTTPRequest) -> HTTPAnswer? {
        let host = request.values("host").first ?? ""
        guard let name = Self.name(in: host), hosts.contains(name) else {
            return .text(
                421,
                "no page is served for the host '\(host.prefix(80))'; --host NAME adds one that a proxy is known by")
        }
        guard isFromHere(request, host) else {
            return .text(403, "the request comes from another site's page")
        }
        return nil
    }

    /// The answer that refuses a request without a valid session; nil if the request has one, or no login is necessary.
    func lock(_ request: HTTPRequest) -> HTTPAnswer? {
        guard let door, !door.admits(request) else { return nil }
        return .text(401, "log in first: `pipectl gallery` prints an address that does")
            .with("WWW-Authenticate", "Cookie")
    }

    /// Whether the request comes from our own page, from the user directly, or from no browser. Only browsers send the
    /// headers that are checked here.
    private func isFromHere(_ request: HTTPRequest, _ host: String) -> Bool {
        if let site = request.values("sec-fetch-site").first {
            // Other sites may link to our page, so a navigation that only reads is allowed.
            let isVisit = request.isReading && request.values("sec-fetch-mode") == ["navigate"]
            return site == "same-origin" || site == "none" && request.isReading || isVisit
        }
        guard !request.isReading, let origin = request.values("origin").first else { return true }
        return ["http://\(host)", "https://\(host)"].contains(origin)
    }

    /// The host name in a Host header, without its port. Nil unless the header has the form `name`, `name:port`,
    /// `[address]` or `[address]:port`.
    private static func name(in host: String) -> String? {
        let host = host.lowercased()
        let isAddress = host.hasPrefix("[")
        let name = isAddress ? host.dropFirst().prefix { $0 != "]" } : host.prefix { $0 != ":" }
        let rest = host[name.endIndex...].dropFirst(isAddress ? 1 : 0)
        guard !isAddress || name.endIndex < host.endIndex else { return nil }
        let isPort = rest.first == ":" && rest.dropFirst().utf8.allSatisfy { (0x30...0x39).contains($0) }
        return rest.isEmpty || isPort ? String(name) : nil
    }
}
