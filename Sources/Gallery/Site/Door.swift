import Synchronization

/// Admits requests with a session cookie. A browser gets a cookie in exchange for a code, which is valid once.
final class Door: Sendable {
    typealias Instant = ContinuousClock.Instant

    private struct Secret {
        var text: String
        var ends: Instant
    }

    private struct State {
        /// The newest code is the last.
        var codes: [Secret] = []
        var sessions: [Secret] = []
    }

    private static let (mostCodes, mostSessions) = (16, 256)
    /// The time in which a code must be used.
    static let codeLife = Duration.seconds(15 * 60)
    /// A session ends when it has been unused for this time.
    static let sessionLife = Duration.seconds(7 * 86400)

    /// Its name contains the port, because servers at several ports of a host share cookies.
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

    /// The header that logs a browser in, if the code is valid. The code becomes invalid.
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

    /// 128 bits of the kernel's randomness.
    private static func secret() -> String {
        (0..<2).map { _ in
            let digits = String(UInt64.random(in: .min ... .max), radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}
