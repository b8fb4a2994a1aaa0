import Synchronization

/// The login at a port: admits requests that have a session cookie. A browser gets the cookie in exchange for a code
/// that works once.
final class Door: Sendable {
    typealias Instant = ContinuousClock.Instant

    private struct Secret {
        var text: String
        var ends: Instant
    }

    private struct State {
        /// Oldest code first.
        var codes: [Secret] = []
        var sessions: [Secret] = []
    }

    private static let (mostCodes, mostSessions) = (16, 256)
    /// How long a code can be used after it was made.
    static let codeLife = Duration.seconds(15 * 60)
    /// How long a session lasts after its last request.
    static let sessionLife = Duration.seconds(7 * 86400)

    /// The cookie's name. It contains the port, because browsers share cookies between all ports of a host.
    private let cookie: String
    private let now: @Sendable () -> Instant
    private let state = Mutex(State())

    init(port: UInt16, now: @escaping @Sendable () -> Instant = { .now }) {
        cookie = "pipelined-\(port)"
        self.now = now
    }

    func makeCode() -> String {
        let code = Secret(text: Self.secret(), ends: now() + Self.codeLife)
        state.withLock { state in
            state.codes = Array((state.codes + [code]).suffix(Self.mostCodes))
        }
        return code.text
    }

    /// Returns the header that logs the browser in, if the code is valid, and invalidates the code.
    func enter(_ code: String) -> HTTPRequest.Header? {
        let now = now()
        let session = Secret(text: Self.secret(), ends: now + Self.sessionLife)
        let isGood = state.withLock { state in
            state.codes.removeAll { $0.ends <= now }
            guard let index = state.codes.firstIndex(where: { $0.text == code }) else { return false }
            state.codes.remove(at: index)
            state.sessions = Array((state.sessions + [session]).suffix(Self.mostSessions))
            return true
        }
        guard isGood else { return nil }
        return HTTPRequest.Header(
            name: "Set-Cookie", value: "\(cookie)=\(session.text); Path=/; HttpOnly; SameSite=Strict")
    }

    func admits(_ request: HTTPRequest) -> Bool {
        let cookies = request.values("cookie").flatMap { $0.split { $0 == ";" || $0 == " " }.map(String.init) }
        let sessions = cookies.filter { $0.hasPrefix("\(cookie)=") }.map { String($0.dropFirst(cookie.count + 1)) }
        let now = now()
        return state.withLock { state in
            state.sessions.removeAll { $0.ends <= now }
            guard let index = state.sessions.firstIndex(where: { sessions.contains($0.text) }) else { return false }
            state.sessions[index].ends = now + Self.sessionLife
            return true
        }
    }

    /// A random text of 128 bits from the kernel.
    private static func secret() -> String {
        (0..<2).map { _ in
            let digits = String(UInt64.random(in: .min ... .max), radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}
