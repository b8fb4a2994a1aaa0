/// The answer to a request.
struct HTTPAnswer: Sendable, Equatable {
    var status: Int
    var type: String
    var body: [UInt8]
    var headers: [HTTPRequest.Header] = []

    static func text(_ status: Int, _ text: String, type: String = "text/plain; charset=utf-8") -> HTTPAnswer {
        HTTPAnswer(status: status, type: type, body: Array((text.hasSuffix("\n") ? text : text + "\n").utf8))
    }

    /// The method is none of these.
    static func wrongMethod(_ allowed: String...) -> HTTPAnswer {
        var answer = text(405, "this address knows \(allowed.joined(separator: " and ")) alone")
        answer.headers = [HTTPRequest.Header(name: "Allow", value: allowed.joined(separator: ", "))]
        return answer
    }

    /// Every answer bears them: no page of ours is kept, guessed at, framed, or read by another site's.
    static let common = [
        ("Cache-Control", "no-store"),
        ("X-Content-Type-Options", "nosniff"),
        ("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
        ("Referrer-Policy", "no-referrer"),
    ].map { HTTPRequest.Header(name: $0, value: $1) }
}

/// What a server serves.
protocol HTTPSite: Sendable {
    /// The most bytes of a request's body.
    var longestBody: Int { get }

    /// Calls `done` once, on any thread.
    func answer(_ request: HTTPRequest, _ done: @escaping @Sendable (HTTPAnswer) -> Void)
}
