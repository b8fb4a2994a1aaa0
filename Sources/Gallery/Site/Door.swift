import Synchronization

/// Lets requests in that bear a cookie. A browser gets one for a code, which counts once.
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
