import PipelineControl

/// Serves the page, and the calls, events, pictures and uploads that it requests.
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
    let monitor: MonitorSite
    let limits: Limits
    let guardian: Guard
    /// Makes a URL with a login code, which a client at the Unix socket can request.
    var login: (@Sendable () -> String?)?

    func route(_ request: HTTPRequest) -> HTTPRoute {
        if let refusal = guardian.refusal(request) ?? enter(request) ?? guardian.lock(request) {
            return .refused(refusal)
        }
        if let file = PageFile.all[request.path] { return reading(request) { $1.answer(file.answer) } }
        let parts = request.path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map(String.init)
        switch (parts.first, parts.count) {
        case ("events", 1): return reading(request, follow)
        case ("plain", 1): return PlainPage(calls: calls).route(request, longestBody: limits.body)
        case ("call", 2): return writing(request, "POST") { call(parts[1], $0, $1) }
        case ("login", 1): return writing(request, "POST", makeLogin)
        case ("pictures", 2...3):
            guard let id = Int(parts[1]), let result = parts.count == 3 ? Int(parts[2]) : 0 else { break }
            return reading(request) { picture(id, result == 0 && parts.count == 2 ? nil : result, $0, $1) }
        case ("try", 2):
            guard let id = Int(parts[1]) else { break }
            return writing(request, "POST") { tryOut(id, $0, $1) }
        case ("again", 2):
            guard let id = Int(parts[1]) else { break }
            return writing(request, "POST") { addAgain(id, $0, $1) }
        case ("upload", 1):
            guard request.method == "PUT" else { return .refused(.wrongMethod("PUT")) }
            return .file(begin: beginUpload, upload)
        case ("metrics", 1), ("healthz", 1): return monitor.route(request)
        default: break
        }
        return .refused(.text(404, "there is nothing at \(request.path.prefix(80))"))
    }

    private func reading(_ request: HTTPRequest, _ handler: @escaping HTTPRoute.Handler) -> HTTPRoute {
        request.isReading ? .plain(handler) : .refused(.wrongMethod("GET", "HEAD"))
    }

    private func writing(_ request: HTTPRequest, _ method: String, _ handler: @escaping HTTPRoute.Handler) -> HTTPRoute
    {
        request.method == method ? .body(most: limits.body, handler) : .refused(.wrongMethod(method))
    }

    // MARK: - Login

    /// Exchanges the login code in the URL for a cookie. A prefetch must not use up the code: messengers fetch links
    /// for a preview, and browsers fetch pages that the user may open next.
    private func enter(_ request: HTTPRequest) -> HTTPAnswer? {
        guard let door = guardian.door, request.path == "/", request.method == "GET",
            request.values("sec-purpose").isEmpty, let code = request.query["code"]
        else { return nil }
        guard let cookie = door.enter(code) else {
            return .text(
                401,
                "this code has been used, is too old, or never was one; `pipectl gallery` prints an address with a new one"
            )
        }
        return HTTPAnswer.text(303, "come in").with("Location", "/").with(cookie.name, cookie.value)
    }

    private func makeLogin(_ request: HTTPRequest, _ client: HTTPCall) {
        guard guardian.door == nil, let address = login?() else {
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
        events.join(stream, after: after, most: limits.streams) { isIn in
            guard isIn else {
                return client.answer(
                    .failure(503, "\(limits.streams) browsers are told of events already (--streams)")
                        .with("Retry-After", "10"))
            }
            client.whenAbandoned { events.leave(stream) }
            client.answer(HTTPAnswer(status: 200, type: "text/event-stream", body: .stream(stream)))
        }
    }
}
