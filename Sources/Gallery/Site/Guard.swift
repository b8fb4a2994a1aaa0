import Synchronization

/// Who may ask for what: every request passes it first.
struct Guard: Sendable {
    /// The names by which a browser may know this server. Any other is a stranger's, whose page wants to read ours
    /// (DNS rebinding).
    var hosts: Set<String> = Self.loopback
    /// At a port, the door that only a login opens; at a socket, whose mode and group are the lock, none.
    var door: Door?

    static let loopback: Set<String> = ["localhost", "127.0.0.1", "::1"]

    /// Why a page that is not ours, or not seen as ours, gets nothing.
    func refusal(_ request: HTTPRequest) -> HTTPAnswer? {
        let host = request.values("host").first ?? ""
        guard hosts.contains(Self.name(in: host)) else {
            return .text(
                421,
                "no page is served for the host '\(host.prefix(80))'; --host NAME adds one that a proxy is known by")
        }
        guard isFromHere(request, host) else {
            return .text(403, "the request comes from another site's page")
        }
        return nil
    }

    /// Who has not logged in sees nothing.
    func lock(_ request: HTTPRequest) -> HTTPAnswer? {
        guard let door, !door.admits(request) else { return nil }
        return .text(401, "log in first: `pipectl gallery` prints an address that does")
            .with("WWW-Authenticate", "Cookie")
    }

    /// A browser says which page asks. Who says nothing of it is no browser.
    private func isFromHere(_ request: HTTPRequest, _ host: String) -> Bool {
        if let site = request.values("sec-fetch-site").first {
            // A link from elsewhere may lead here.
            let isVisit = request.isReading && request.values("sec-fetch-mode") == ["navigate"]
            return site == "same-origin" || site == "none" && request.isReading || isVisit
        }
        guard !request.isReading, let origin = request.values("origin").first else { return true }
        return ["http://\(host)", "https://\(host)"].contains(origin)
    }

    /// Of a header Host, without its port.
    private static func name(in host: String) -> String {
        let host = host.lowercased()
        if host.hasPrefix("[") { return String(host.dropFirst().prefix { $0 != "]" }) }
        return String(host.prefix { $0 != ":" })
    }
}

/// Lets in who has a cookie, which is got for a code that counts once.
final class Door: Sendable {
    private struct State {
        /// The newest last.
        var codes: [String] = []
        var sessions: [String] = []
    }

    private static let (mostCodes, mostSessions) = (16, 256)

    /// Servers at several ports of a host share its cookies.
    private let cookie: String
    private let state = Mutex(State())

    init(port: UInt16) { cookie = "pipelined-\(port)" }

    func makeCode() -> String {
        let code = Self.secret()
        state.withLock { state in
            state.codes = Array((state.codes + [code]).suffix(Self.mostCodes))
        }
        return code
    }

    /// The header that logs a browser in, if the code is good. It is none from then on.
    func enter(_ code: String) -> HTTPRequest.Header? {
        let session = Self.secret()
        let isGood = state.withLock { state in
            guard let index = state.codes.firstIndex(of: code) else { return false }
            state.codes.remove(at: index)
            state.sessions = Array((state.sessions + [session]).suffix(Self.mostSessions))
            return true
        }
        guard isGood else { return nil }
        return HTTPRequest.Header(
            name: "Set-Cookie", value: "\(cookie)=\(session); Path=/; HttpOnly; SameSite=Strict")
    }

    func admits(_ request: HTTPRequest) -> Bool {
        let cookies = request.values("cookie").flatMap { $0.split { $0 == ";" || $0 == " " }.map(String.init) }
        let sessions = cookies.filter { $0.hasPrefix("\(cookie)=") }.map { String($0.dropFirst(cookie.count + 1)) }
        return state.withLock { state in sessions.contains(where: state.sessions.contains) }
    }

    /// 128 bits of the kernel's randomness.
    private static func secret() -> String {
        (0..<2).map { _ in
            let digits = String(UInt64.random(in: .min ... .max), radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}
