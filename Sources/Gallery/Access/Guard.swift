/// Refuses requests from other sites, for unknown hosts, or without a login. Every request passes this check first.
struct Guard: Sendable {
    /// The host names by which browsers may address this server. A request with any other name may come from a foreign
    /// site that tries to read our page (DNS rebinding).
    var hosts: Set<String> = Self.loopback
    /// The login, if the server listens at a port. Nil at a Unix socket, which is protected by its mode and group.
    var door: Door?
    /// The tokens of programs. At a port, a token replaces the login. At a Unix socket, no token is necessary. In both
    /// cases, a program that sends a token may only do what the token's role permits.
    var tokens: Tokens?

    static let loopback: Set<String> = ["localhost", "127.0.0.1", "::1"]

    /// The answer that refuses a request from another site's page or for an unknown host; nil for a good request.
    func refusal(_ request: HTTPRequest) -> HTTPAnswer? {
        let host = request.values("host").first ?? ""
        guard let name = Self.name(in: host), hosts.contains(name) else {
            return .failure(
                421,
                "no page is served for the host '\(host.prefix(80))'; --host NAME allows a proxy's name")
        }
        guard isFromHere(request, host) else {
            return .failure(403, "the request comes from another site's page")
        }
        return nil
    }

    /// Returns the refusal of a request that lacks a login, or nil if the request may pass. An unknown token is always
    /// refused. A request without a token is refused if a login is necessary, there is no valid session, and the
    /// request is not for a file of the login page.
    func lock(_ request: HTTPRequest) -> HTTPAnswer? {
        do throws(Tokens.Refusal) {
            if try tokens?.token(of: request) != nil { return nil }
        } catch {
            return .failure(error).with("WWW-Authenticate", "Bearer")
        }
        guard let door, !door.admits(request), !LoginPage.files.contains(request.path) else { return nil }
        return LoginPage.answer(to: request, "Log in first: `pipectl gallery` prints an address that logs you in.")
    }

    /// The token of a request that `lock` has let pass; nil for a request without a token, which comes from a person.
    func token(of request: HTTPRequest) -> Tokens.Token? { try? tokens?.token(of: request) }

    /// The answer that refuses a request whose token lacks this role; nil if the token has the role, or if the request
    /// has no token.
    func refusal(_ request: HTTPRequest, without role: Role) -> HTTPAnswer? {
        let token: Tokens.Token?
        do throws(Tokens.Refusal) { token = try tokens?.token(of: request) } catch {
            return .failure(error).with("WWW-Authenticate", "Bearer")
        }
        guard let token, token.role < role else { return nil }
        return .failure(
            403,
            "the token '\(token.name)' has the role \(token.role.rawValue), and this needs \(role.rawValue): `pipectl gallery "
                + "token make NAME --role \(role.rawValue)` makes another")
    }

    /// Whether the request comes from our own page, from a link or a URL that the user has opened, or from a program.
    /// Only browsers send the headers that are checked here.
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
