import SystemCalls

/// The answer to a request.
struct HTTPAnswer: Sendable {
    enum Body: Sendable {
        case bytes([UInt8])
        /// A whole file.
        case file(Descriptor, bytes: Int)
        case stream(HTTPStream)
    }

    var status: Int
    var type: String
    var body: Body
    /// Additional headers. They replace `common` headers of the same name.
    var headers: [HTTPRequest.Header] = []
    /// The message of an error.
    var message: String?

    static func text(_ status: Int, _ text: String, type: String = "text/plain; charset=utf-8") -> HTTPAnswer {
        HTTPAnswer(status: status, type: type, body: .bytes(Array((text.hasSuffix("\n") ? text : text + "\n").utf8)))
    }

    /// The answer to a request with a method that is not allowed here.
    static func wrongMethod(_ allowed: String...) -> HTTPAnswer {
        failure(405, "this address accepts only \(allowed.joined(separator: " and "))")
            .with("Allow", allowed.joined(separator: ", "))
    }

    func with(_ name: String, _ value: String) -> HTTPAnswer {
        var answer = self
        answer.headers.append(HTTPRequest.Header(name: name, value: value))
        return answer
    }

    /// The answer as the client reads it: programs get an error as JSON, and people get its message as text.
    func readable(by request: HTTPRequest) -> HTTPAnswer {
        guard let message, request.acceptsPages else { return self }
        var answer = Self.text(status, message)
        answer.headers = headers
        return answer
    }

    /// All headers, in the order in which they are sent.
    var allHeaders: [HTTPRequest.Header] {
        let own = Set(headers.map(\.name))
        return [HTTPRequest.Header(name: "Content-Type", value: type)] + headers
            + Self.common.filter { !own.contains($0.name) }
    }

    /// Headers of all answers. They forbid browsers to cache, sniff or frame an answer, and forbid other sites' pages
    /// to read it.
    private static let common = [
        ("Cache-Control", "no-store"),
        ("X-Content-Type-Options", "nosniff"),
        ("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
        ("Referrer-Policy", "no-referrer"),
    ].map { HTTPRequest.Header(name: $0, value: $1) }
}
