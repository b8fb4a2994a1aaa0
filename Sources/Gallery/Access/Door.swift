import ServiceProgram
import Synchronization

/// The login at a port: admits requests that have a session cookie. A browser gets the cookie in exchange for a code
/// that works once.
final class Door: Sendable {
    /// A code or a session, and when it expires, in seconds since 1970.
    struct Pass: Equatable {
        var text: String
        var ends: Double
    }

    private struct State {
        /// Oldest code first.
        var codes: [Pass] = []
        var sessions: [Pass] = []
    }

    private static let (mostCodes, mostSessions) = (16, 256)
    /// How long a code can be used after it was made.
    static let codeLife = 15.0 * 60
    /// How long a session lasts after its last request.
    static let sessionLife = 7.0 * 86400
    /// A request extends its session, and saves the new expiry to the file, only if the new expiry is later than the
    /// old expiry by more than this many seconds.
    private static let precision = 3600.0

    /// The cookie's name. It contains the port, because browsers share cookies between all ports of a host.
    private let cookie: String
    private let now: @Sendable () -> Double
    private let file: SessionFile?
    private let state: Mutex<State>

    /// The sessions stored in `file` stay valid.
    init(port: UInt16, file: SessionFile? = nil, now: @escaping @Sendable () -> Double = Timestamp.now) {
        cookie = "pipelined-\(port)"
        (self.file, self.now) = (file, now)
        state = Mutex(State(sessions: file?.read() ?? []))
    }

    func makeCode() -> String {
        let code = Pass(text: Secret.make(), ends: now() + Self.codeLife)
        state.withLock { state in
            state.codes = Array((state.codes + [code]).suffix(Self.mostCodes))
        }
        return code.text
    }

    /// Uses up a code, and returns the header that logs the browser in; nil if the code is not valid.
    func enter(_ code: String) -> HTTPRequest.Header? {
        let now = now()
        let session = Pass(text: Secret.make(), ends: now + Self.sessionLife)
        let isGood = state.withLock { state in
            state.codes.removeAll { $0.ends <= now }
            guard let index = state.codes.firstIndex(where: { $0.text == code }) else { return false }
            state.codes.remove(at: index)
            state.sessions = Array((state.sessions + [session]).suffix(Self.mostSessions))
            file?.write(state.sessions)
            return true
        }
        return isGood ? header(session) : nil
    }

    /// When the request's session expires if the browser makes no further request; nil without a session.
    func end(of request: HTTPRequest) -> Double? {
        let texts = sessions(of: request)
        return state.withLock { state in state.sessions.first { texts.contains($0.text) } }?.ends
    }

    /// The header that renews the cookie after an admitted request, so that the browser keeps the cookie as long as the
    /// session lasts. Nil without a session.
    func renewal(of request: HTTPRequest) -> HTTPRequest.Header? {
        let texts = sessions(of: request)
        return state.withLock { state in state.sessions.first { texts.contains($0.text) } }.map(header)
    }

    private func header(_ session: Pass) -> HTTPRequest.Header {
        HTTPRequest.Header(
            name: "Set-Cookie",
            value: "\(cookie)=\(session.text); Path=/; Max-Age=\(Int(Self.sessionLife)); HttpOnly; SameSite=Strict")
    }

    private func sessions(of request: HTTPRequest) -> [String] {
        let cookies = request.values("cookie").flatMap { $0.split { $0 == ";" || $0 == " " }.map(String.init) }
        return cookies.filter { $0.hasPrefix("\(cookie)=") }.map { String($0.dropFirst(cookie.count + 1)) }
    }

    func admits(_ request: HTTPRequest) -> Bool {
        let texts = sessions(of: request)
        let now = now()
        return state.withLock { state in
            state.sessions.removeAll { $0.ends <= now }
            guard let index = state.sessions.firstIndex(where: { texts.contains($0.text) }) else { return false }
            let ends = now + Self.sessionLife
            if ends - state.sessions[index].ends > Self.precision {
                state.sessions[index].ends = ends
                file?.write(state.sessions)
            }
            return true
        }
    }
}
