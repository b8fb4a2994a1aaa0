import PipelineControl
import ServiceProgram

/// Serves the page, and handles the calls, events, pictures and uploads of the page.
struct GallerySite: HTTPSite {
    struct Limits {
        /// Maximum bytes of a call's body.
        var body = 64 << 10
        /// Maximum browsers that receive events at the same time.
        var streams = 256
    }

    let calls: ControlCalls
    let events: EventHub
    let previews: PreviewDesk
    let batches: OpenBatches
    let monitor: MonitorSite
    let limits: Limits
    let held = HeldUploads()
    let guardian: Guard
    /// Makes a URL with a login code, which a client at the Unix socket can request.
    var login: (@Sendable () -> String?)?

    func route(_ request: HTTPRequest) -> HTTPRoute {
        if let refusal = guardian.refusal(request) ?? enter(request) ?? guardian.lock(request) {
            return .refused(refusal)
        }
        if let file = PageFile.all[request.path] {
            let renewal = request.path == "/" ? guardian.door?.renewal(of: request) : nil
            return reading(request) { _, client in
                client.answer(renewal.map { file.answer.with($0.name, $0.value) } ?? file.answer)
            }
        }
        let parts = request.path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map(String.init)
        switch (parts.first, parts.count) {
        case ("events", 1): return reading(request, follow)
        case ("plain", 1):
            let page = PlainPage(calls: calls)
            return request.isReading
                ? .plain(page.show)
                : posting(request) { request, client in
                    log(request, "/plain")
                    page.act(request, client)
                }
        case ("call", 2): return posting(request, as: Self.role(ofCall: parts[1])) { call(parts[1], $0, $1) }
        case ("login", 1):
            return request.isReading ? .plain(answerLoginEnd) : atSocket(request) ?? posting(request, makeLogin)
        case ("tokens", 1...2): return atSocket(request) ?? tokens(request, parts.dropFirst().first)
        case ("pictures", 2...3):
            guard let id = Int(parts[1]), let result = parts.count == 3 ? Int(parts[2]) : 0 else { break }
            return reading(request) { picture(id, result == 0 && parts.count == 2 ? nil : result, $0, $1) }
        case ("try", 2) where parts[1] == "sample": return posting(request, as: .add, tryOnSample)
        case ("try", 2...3):
            guard let id = Int(parts[1]), let result = parts.count == 3 ? Int(parts[2]) : 0 else { break }
            return posting(request, as: .add) { tryOut(id, parts.count == 2 ? nil : result, $0, $1) }
        case ("again", 2):
            guard let id = Int(parts[1]) else { break }
            return posting(request, as: .add) { addAgain(id, $0, $1) }
        case ("upload", 1):
            guard request.method == "PUT" else { return .refused(.wrongMethod("PUT")) }
            if let refusal = guardian.refusal(request, without: .add) { return .refused(refusal) }
            return .file(begin: beginUpload, checked(.add, upload))
        case ("upload", 2): return posting(request, as: .add) { addHeld(parts[1], $0, $1) }
        case ("metrics", 1), ("healthz", 1): return monitor.route(request)
        default: break
        }
        return .refused(.failure(404, "there is nothing at \(request.path.prefix(80))"))
    }

    private func reading(_ request: HTTPRequest, _ handler: @escaping HTTPRoute.Handler) -> HTTPRoute {
        request.isReading ? .plain(handler) : .refused(.wrongMethod("GET", "HEAD"))
    }

    func posting(
        _ request: HTTPRequest, as role: Role = .steer, _ handler: @escaping HTTPRoute.Handler
    ) -> HTTPRoute {
        guard request.method == "POST" else { return .refused(.wrongMethod("POST")) }
        return .body(most: limits.body, checked(role, handler))
    }

    /// Makes a handler that checks token and role before it calls `handler`. The check waits for the whole body: the
    /// token may be revoked while the body arrives, and a proxy may lose an answer that arrives before the proxy has
    /// forwarded the whole body.
    private func checked(_ role: Role, _ handler: @escaping HTTPRoute.Handler) -> HTTPRoute.Handler {
        { request, client in
            if let refusal = guardian.lock(request) ?? guardian.refusal(request, without: role) {
                return client.answer(refusal)
            }
            handler(request, client)
        }
    }

    // MARK: - Login

    /// Exchanges the login code in the URL for a cookie. A prefetch must not use up the code: messengers fetch links
    /// for a preview, and browsers fetch pages that the user may open next.
    private func enter(_ request: HTTPRequest) -> HTTPAnswer? {
        guard let door = guardian.door, request.path == "/", request.method == "GET",
            request.values("sec-purpose").isEmpty, let code = request.query["code"]
        else { return nil }
        guard let cookie = door.enter(code) else {
            return LoginPage.answer(
                to: request,
                "This code has been used, has expired, or is invalid: `pipectl gallery` prints an address with a new one."
            )
        }
        return HTTPAnswer.text(303, "come in").with("Location", "/").with(cookie.name, cookie.value)
    }

    /// Reports when the browser's login ends. At a Unix socket there is no login, and the end is null.
    private func answerLoginEnd(_ request: HTTPRequest, _ client: HTTPCall) {
        client.answer(.json(["ends": guardian.door?.end(of: request).map(Timestamp.text)]))
    }

    /// Only a person at the Unix socket may make logins and tokens. Returns a refusal if the request has a token or
    /// came through another socket, and otherwise nil.
    private func atSocket(_ request: HTTPRequest) -> HTTPRoute? {
        if let token = guardian.token(of: request) {
            return .refused(
                .failure(
                    403, "only a person can make logins and tokens, and this request has the token '\(token.name)'"))
        }
        guard guardian.door != nil else { return nil }
        return .refused(.failure(409, "logins and tokens are made at the gallery's socket: pipectl gallery"))
    }

    private func makeLogin(_ request: HTTPRequest, _ client: HTTPCall) {
        guard let address = login?() else {
            return client.answer(
                .failure(409, "this gallery serves no port: start it with --listen 127.0.0.1:8080, or reach its socket")
            )
        }
        client.answer(.json(["address": address]))
    }

    // MARK: - Events

    private func follow(_ request: HTTPRequest, _ client: HTTPCall) {
        let stream = HTTPStream()
        let after = (request.values("last-event-id").first ?? request.query["after"]).flatMap { Int($0) }
        let isWelcome = { @Sendable [guardian] in guardian.lock(request) == nil }
        events.join(stream, after: after, most: limits.streams, while: isWelcome) { isIn in
            guard isIn else {
                return client.answer(
                    .failure(503, "\(limits.streams) browsers receive events already (--streams)")
                        .with("Retry-After", "10"))
            }
            client.whenAbandoned { events.leave(stream) }
            client.answer(HTTPAnswer(status: 200, type: "text/event-stream", body: .stream(stream)))
        }
    }
}
