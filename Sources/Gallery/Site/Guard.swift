/// Decides which requests are answered; every request passes it first.
struct Guard: Sendable {
    /// The names by which browsers may know this server. Another name belongs to a foreign site that tries to read our
    /// page (DNS rebinding).
    var hosts: Set<String> = Self.loopback
    /// The login at a port; nil at a socket, which its mode and group protect.
    var door: Door?

    static let loopback: Set<String> = ["localhost", "127.0.0.1", "::1"]

    /// The refusal of a request from another site's page, or for an unknown host.
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

    /// The refusal of a request without a session of this door.
    func lock(_ request: HTTPRequest) -> HTTPAnswer? {
        guard let door, !door.admits(request) else { return nil }
        return .text(401, "log in first: `pipectl gallery` prints an address that does")
            .with("WWW-Authenticate", "Cookie")
    }

    /// Whether the request comes from our page. A request without these headers comes from no browser.
    private func isFromHere(_ request: HTTPRequest, _ host: String) -> Bool {
        if let site = request.values("sec-fetch-site").first {
            // Links on other sites may lead here.
            let isVisit = request.isReading && request.values("sec-fetch-mode") == ["navigate"]
            return site == "same-origin" || site == "none" && request.isReading || isVisit
        }
        guard !request.isReading, let origin = request.values("origin").first else { return true }
        return ["http://\(host)", "https://\(host)"].contains(origin)
    }

    /// The name in the header Host, without a port; nil unless it is `name`, `name:port`, `[address]` or
    /// `[address]:port`.
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
